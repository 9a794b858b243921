"""The tables of the MacroF1 paper (Gowda et al., 2021) come out of the raw text.

Every printed figure is compared as printed: as text, after rounding to its decimals.
"""

import csv
import re

import numpy as np
import pytest

from assay import BLEU, CHRF, MacroF, MicroF
from tests.corpora import Texts, read_lines

PAIRS = ("de-en", "fr-en", "ro-en")
METRICS = {
    "BLEU": BLEU(),
    "MacroF1": MacroF(),
    "MicroF1": MicroF(),
    "CHRF1": CHRF(beta=1, legacy=True),
}

TABLE_6 = {
    # The supervised system, the unsupervised one, and the difference of the two.
    "de-en": {
        "BLEU": ("32.7", "33.9", "-1.2"),
        "MacroF1": ("38.5", "33.6", "4.9"),
        "MicroF1": ("58.7", "57.9", "0.8"),
        "CHRF1": ("59.9", "58.0", "1.9"),
    },
    "fr-en": {
        "BLEU": ("31.1", "31.2", "-0.1"),
        "MacroF1": ("41.6", "33.6", "8.0"),
        "MicroF1": ("60.5", "58.3", "2.2"),
        "CHRF1": ("59.1", "57.3", "1.8"),
    },
    "ro-en": {
        "BLEU": ("30.8", "29.6", "1.2"),
        "MacroF1": ("40.3", "33.0", "7.3"),
        "MicroF1": ("59.8", "56.5", "3.3"),
        "CHRF1": ("58.0", "54.7", "3.3"),
    },
}

FAVORITISM = {
    # Tables 7, 13 and 14: the ten segments that each metric favours most, in order.
    ("de-en", "MacroF1"): "71 64 -55 52 -45 44 44 43 -41 41",
    ("de-en", "BLEU"): "48 46 44 42 -39 -37 -34 -32 -32 -31",
    ("fr-en", "MacroF1"): "44 -38 35 -34 -34 -33 33 32 30 30",
    ("fr-en", "BLEU"): "-26 25 24 21 21 -21 -21 -21 21 -20",
    ("ro-en", "MacroF1"): "131 63 62 -52 -52 -52 -50 -50 -49 48",
    ("ro-en", "BLEU"): "114 89 -72 -45 -41 -40 39 36 -35 34",
}
SENTENCES = {key: number for number, key in enumerate(FAVORITISM, 15)}
"""Tables 15 to 20 print the sentences themselves, in the same order."""


@pytest.fixture(scope="module")
def texts_of(shared):
    """Reads the texts of one language pair: `src`, `ref`, `snmt`, `unmt`."""

    def read(pair):
        folder = shared / "snmt-unmt" / pair
        return {name: read_lines(folder / f"{name}.txt") for name in ("src", "ref", "snmt", "unmt")}

    return read


def statistics(metric, texts):
    """The statistics of both systems, from one batch."""
    size = len(texts["ref"])
    lines = Texts(texts["snmt"] + texts["unmt"], [texts["ref"] * 2])
    together = metric.statistics(lines.segments())
    return together[:size], together[size:]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("pair", PAIRS)
def test_table_6_comes_out(pair, name, texts_of):
    supervised, unsupervised = statistics(METRICS[name], texts_of(pair))
    found = [f"{each.corpus():.1f}" for each in (supervised, unsupervised)]
    # The difference is that of the rounded scores: de-en MacroF1 differs by 4.85, ro-en by 7.21
    # and its chrF1 by 3.35, but 4.9, 7.3 and 3.3 are printed.
    difference = f"{float(found[0]) - float(found[1]):.1f}"
    assert (*found, difference) == TABLE_6[pair][name]


@pytest.mark.parametrize("pair", PAIRS)
def test_published_scores_come_out(pair, texts_of, shared):
    with (shared / "snmt-unmt" / "published.scores-all.tsv").open(encoding="utf-8") as file:
        published = next(row for row in csv.DictReader(file, delimiter="\t") if row["Pair"] == pair)
    for name, metric in METRICS.items():
        for each, mark in zip(statistics(metric, texts_of(pair)), "su", strict=True):
            assert f"{each.corpus():.1f}" == published[f"{name}_{mark}"]


@pytest.mark.parametrize("pair", PAIRS)
def test_published_chrf_comes_out_to_four_decimals(pair, texts_of, shared):
    lines = read_lines(shared / "snmt-unmt" / "published.scores.chrf.tsv")
    published = next(line.split()[1:] for line in lines if line.startswith(pair))
    both = statistics(METRICS["CHRF1"], texts_of(pair))
    assert [f"{each.corpus() / 100:.4f}" for each in both] == published


@pytest.mark.parametrize("system", ["snmt", "unmt"])
@pytest.mark.parametrize("pair", PAIRS)
def test_published_tables_of_types_come_out(pair, system, texts_of, shared):
    lines = read_lines(shared / "snmt-unmt" / pair / f"published.typeperf.{system}.tsv")
    texts, metric = texts_of(pair), MacroF()
    counted = metric.count(Texts(texts[system], [texts["ref"]]).segments())
    counts = np.asarray(counted.rows.sum(axis=0)).reshape(-1, 3)
    found = {
        name: _type_row(*row, f)
        for name, row, f in zip(counted.types, counts, metric.f_scores(counts), strict=True)
    }
    published = {name.rstrip(" "): row for name, *row in (line.split("\t") for line in lines[5:])}
    assert len(published) == len(lines) - 5
    assert found == published
    predicted, wanted, _ = counts.sum(axis=0)
    assert f"hyp_len = {predicted} ref_len = {wanted})" in lines[0]
    assert f" {100 * metric.f_scores(counts).mean():.2f} (" in lines[0]


def _type_row(predicted, wanted, matched, f):
    """Score, Refs, Preds, Match, F1, Precision, Recall; a ratio to nothing counts as 100."""
    precision = matched / predicted if predicted else 1
    recall = matched / wanted if wanted else 1
    ratios = [f"{100 * value:.2f}" for value in (f, precision, recall)]
    return [ratios[0], str(wanted), str(predicted), str(matched), *ratios]


@pytest.mark.parametrize(("pair", "name"), FAVORITISM)
def test_the_ten_largest_favoritisms_come_out(pair, name, texts_of):
    supervised, unsupervised = statistics(METRICS[name], texts_of(pair))
    favoritism = supervised.favoritism(unsupervised)
    largest = favoritism[_top_ten(favoritism)]
    printed = [int(number) / 1000 for number in FAVORITISM[pair, name].split()]
    assert [f"{value:.3f}" for value in largest] == [f"{value:.3f}" for value in printed]


@pytest.mark.parametrize(("pair", "name"), SENTENCES)
def test_the_most_favoured_sentences_are_those_of_the_paper(pair, name, texts_of, shared):
    paper = shared.parent / "papers" / "macrof1.txt"
    if not paper.is_file():
        pytest.skip("needs the text of the paper")
    texts = texts_of(pair)
    printed = _rows_of_table(SENTENCES[pair, name], paper.read_text("utf-8"))
    supervised, unsupervised = statistics(METRICS[name], texts)
    favoritism = supervised.favoritism(unsupervised)
    segments = [_words(" ".join(lines)) for lines in zip(*texts.values(), strict=True)]
    found = [_nearest(_words(row), segments) for row in printed]
    assert found == _top_ten(favoritism).tolist()
    for row, at in zip(printed, found, strict=True):
        # Table 18 prints its sixth value as .021; Table 13 has -.021 for the same segment.
        value = float(re.match(r"\| (-?\.\d+)", row)[1])
        if (pair, name, value) == ("fr-en", "BLEU", 0.021) and favoritism[at] < 0:
            value = -value
        assert f"{favoritism[at]:.3f}" == f"{value:.3f}"


def _top_ten(favoritism):
    return np.argsort(-np.abs(favoritism), kind="stable")[:10]


def _words(text):
    return set(re.findall(r"\w+", text.lower()))


def _nearest(words, segments):
    """The one segment that shares most words with a printed row; nearly all of them."""
    shares = np.array([len(words & each) / len(words | each) for each in segments])
    best = int(shares.argmax())
    assert shares[best] > 0.8
    assert np.delete(shares, best).max() < 0.6
    return best


def _rows_of_table(number, paper):
    """The rows above the caption of a table, without the two lines of its head."""
    above = paper[: paper.index(f"Table {number}: Top 10")].rstrip().split("\n")
    start = max(at for at, line in enumerate(above) if not line.startswith("|")) + 1
    rows = above[start + 2 :]
    assert len(rows) == 10
    return rows


def test_table_8_comes_out(texts_of):
    # The sixth segment of Table 15 by MacroF1; BLEU prefers the other system by .00087.
    texts = texts_of("de-en")
    at = next(
        i for i, line in enumerate(texts["ref"]) if line.startswith("Ever since I joined Labour 32")
    )
    macro, bleu = (
        supervised.favoritism(unsupervised)[at]
        for supervised, unsupervised in (
            statistics(METRICS[name], texts) for name in ("MacroF1", "BLEU")
        )
    )
    assert f"{macro:.3f}" == "0.044"
    assert f"{bleu:.5f}" == "-0.00087"


WMT18 = ("cs-en", "de-en", "en-de", "en-zh", "et-en", "fi-en", "ru-en", "tr-en", "zh-en")
MISSING = {"tr-en": {"Alibaba-MT-tr-en-Ensemble.5745"}}
"""Scored by the authors, but its output is not among the data."""

LATIN_IN_BRACKETS = re.compile(r"\([^\u4e00-\u9fff()]*\)")
"""What the authors took out of Chinese references: ASCII brackets without a Chinese character.

They do not say so in the paper, and no rule is published. Of a dozen that were tried this is the
plainest by which all printed figures of all fourteen systems come out; ASCII text alone leaves
"(Macy's)" with its curly apostrophe, and two MacroF1 scores are then off by .1.
"""


@pytest.mark.parametrize("pair", WMT18)
def test_the_authors_scores_of_wmt18_systems_come_out(pair, shared):
    folder = shared / "wmt18" / pair
    tokenizer, references = "13a", read_lines(folder / "ref.txt")
    if pair == "en-zh":
        tokenizer, references = "zh", [LATIN_IN_BRACKETS.sub("", line) for line in references]
    published = _published_wmt18(shared, pair)
    names = [name for name in published if name not in MISSING.get(pair, ())]
    systems = [line for name in names for line in read_lines(folder / "systems" / f"{name}.txt")]
    segments = Texts(systems, [references * len(names)]).segments()
    wrong = []
    for column, metric in _columns(tokenizer).items():
        together, size = metric.statistics(segments), len(references)
        for at, name in enumerate(names):
            score = together[at * size : (at + 1) * size].corpus()
            printed = f"{score / 100:.2f}" if column.startswith("CHRF") else f"{score:.1f}"
            if printed != published[name][column]:
                wrong.append((name, column, score, published[name][column]))
    assert wrong == []


def _published_wmt18(shared, pair):
    path = shared / "published" / "wmt-metrics" / "tables" / "wmt-scores-2018.tsv"
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["System"]: row for row in rows if row["Langs"] == pair}


def _columns(tokenizer):
    return {
        "BLEU": BLEU(tokenize=tokenizer),
        "MacroF1": MacroF(tokenize=tokenizer),
        "MicroF1": MicroF(tokenize=tokenizer),
        "MacroF3": MacroF(tokenize=tokenizer, beta=3),
        "MicroF3": MicroF(tokenize=tokenizer, beta=3),
        "CHRF1": CHRF(beta=1, legacy=True),
        "CHRF3": CHRF(beta=3, legacy=True),
    }
