"""The demonstration set: whole, without repeats, and telling the story it was written for."""

import statistics
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import assay

DEMO = Path(assay.__file__).parent / "demo"
SYSTEMS = ("atlas", "birch", "cedar")
OUTPUTS = tuple(f"systems/{name}.txt" for name in SYSTEMS)
REFERENCES = {"A": ("ref.A.txt",), "B": ("ref.B.txt",), "A and B": ("ref.A.txt", "ref.B.txt")}
TEXTS = ("src.txt", "ref.A.txt", "ref.B.txt", *OUTPUTS)


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_has_120_clean_lines(name):
    text = (DEMO / name).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    assert len(lines(name)) == 120
    assert all(line and line == " ".join(line.split()) for line in lines(name))


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_stands_twice_in_a_text(name):
    assert [line for line, count in Counter(lines(name)).items() if count > 1] == []


def test_the_two_references_never_agree():
    same = [a for a, b in zip(lines("ref.A.txt"), lines("ref.B.txt"), strict=True) if a == b]
    assert same == []


def test_documents_are_contiguous_runs_of_8_to_12_segments():
    rows = table("docs.tsv", "line", "doc_id", "seg_in_doc", "domain")
    assert [int(line) for line, *_ in rows] == list(range(1, 121))
    documents = {name: list(run) for name, run in groupby(rows, key=lambda row: row[1])}
    assert len(documents) == 12
    assert sum(map(len, documents.values())) == 120  # no document comes back later
    for run in documents.values():
        assert 8 <= len(run) <= 12
        assert [int(row[2]) for row in run] == list(range(1, len(run) + 1))
        assert len({row[3] for row in run}) == 1


@pytest.mark.parametrize("references", REFERENCES.values(), ids=REFERENCES)
def test_bleu_prefers_birch_and_macrof_clearly_prefers_atlas(references):
    bleu = {name: corpus_bleu(f"systems/{name}.txt", references) for name in SYSTEMS}
    macrof = {name: macrof1(f"systems/{name}.txt", references) for name in SYSTEMS}
    assert bleu["birch"] > bleu["atlas"] > bleu["cedar"] + 10
    assert macrof["atlas"] > macrof["birch"] + 10 > macrof["cedar"] + 10


def test_birch_leaves_out_more_and_cedar_repeats_itself():
    lengths = {name: len(" ".join(lines(f"systems/{name}.txt")).split()) for name in SYSTEMS}
    assert lengths["birch"] < 0.92 * lengths["atlas"]
    assert {name: stutters(f"systems/{name}.txt") for name in ("atlas", "birch")} == {
        "atlas": 0,
        "birch": 0,
    }
    assert stutters("systems/cedar.txt") >= 8


def test_only_atlas_keeps_the_rare_words_of_both_references():
    """A word that both translators chose, and that stands in one segment only."""
    rare = shared_rare_words()
    kept = {name: recall_of(rare, f"systems/{name}.txt") for name in SYSTEMS}
    assert len(rare) > 200
    assert kept["atlas"] > 0.9
    assert kept["birch"] < 0.5


def test_people_rate_segments_from_0_to_100_and_leave_a_few_out():
    rows = table("human/da.seg.tsv", "system", "line", "raw")
    rated = [(system, int(line)) for system, line, _ in rows]
    assert len(set(rated)) == len(rated)
    assert {system for system, _ in rated} == set(SYSTEMS)
    assert all(1 <= line <= 120 for _, line in rated)
    assert all(0 <= float(raw) <= 100 for *_, raw in rows)
    assert 5 <= 3 * 120 - len(rated) <= 15


def test_system_ratings_are_the_mean_standardised_segment_ratings():
    rows = table("human/da.seg.tsv", "system", "line", "raw")
    values = [float(raw) for *_, raw in rows]
    mean, spread = statistics.mean(values), statistics.pstdev(values)
    z = {
        name: statistics.mean(
            (float(raw) - mean) / spread for system, _, raw in rows if system == name
        )
        for name in SYSTEMS
    }
    written = {system: float(value) for system, value in table("human/da.sys.tsv", "system", "z")}
    assert written == pytest.approx(z, abs=5e-4)
    assert z["atlas"] > z["birch"] + 0.5 > z["cedar"] + 0.5


def lines(name):
    return (DEMO / name).read_text("utf-8").removesuffix("\n").split("\n")


def table(name, *columns):
    header, *rows = (line.split("\t") for line in lines(name))
    assert header == list(columns)
    assert all(len(row) == len(columns) for row in rows)
    return rows


def corpus_bleu(system, references):
    return sacrebleu.corpus_bleu(lines(system), [lines(name) for name in references]).score


def macrof1(system, references):
    """The mean over types of 2 match / (preds + refs), written out (Gowda et al., 2021)."""
    preds, refs, match = Counter(), Counter(), Counter()
    sets = zip(*(lines(name) for name in references), strict=True)
    for hypothesis, alternatives in zip(lines(system), sets, strict=True):
        said, wanted = types(hypothesis), Counter()
        for reference in alternatives:
            wanted |= types(reference)
        preds += said
        refs += wanted
        match += said & wanted
    vocabulary = preds.keys() | refs.keys()
    return 100 * statistics.mean(2 * match[c] / (preds[c] + refs[c]) for c in vocabulary)


def types(text, tokenize=Tokenizer13a()):  # noqa: B008 - one tokenizer serves all calls
    return Counter(tokenize(text).split())


def shared_rare_words():
    pairs = zip(lines("ref.A.txt"), lines("ref.B.txt"), strict=True)
    both = [types(a).keys() & types(b).keys() for a, b in pairs]
    spread = Counter(word for words in both for word in words)
    return [(at, word) for at, words in enumerate(both) for word in words if spread[word] == 1]


def recall_of(rare, system):
    said = [types(line) for line in lines(system)]
    return sum(word in said[at] for at, word in rare) / len(rare)


def stutters(system):
    """Segments in which one, two or three words follow themselves at once."""
    return sum(
        any(_repeats(line.lower().rstrip(".").split(), n) for n in (1, 2, 3))
        for line in lines(system)
    )


def _repeats(words, n):
    return any(
        words[at : at + n] == words[at + n : at + 2 * n] for at in range(len(words) - 2 * n + 1)
    )
