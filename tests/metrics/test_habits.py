"""What sacreBLEU's users are used to works here, and metrics of one's own do as well."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import sacrebleu

from assay import BLEU, CHRF, ROUGE, TER, WER, DataError, MacroF, MicroF, parse, register
from assay.data import Segment
from assay.metrics.base import METRICS, Metric, registered
from tests.corpora import REFERENCES, SHORT, Texts, hostile
from tests.patience import PATIENCE

PAIRS = {
    "bleu": (BLEU(), sacrebleu.BLEU()),
    "bleu, smoothed": (
        BLEU(smooth_method="floor", smooth_value=0.2, lowercase=True, tokenize="intl"),
        sacrebleu.BLEU(smooth_method="floor", smooth_value=0.2, lowercase=True, tokenize="intl"),
    ),
    "bleu, effective": (BLEU(effective_order=True), sacrebleu.BLEU(effective_order=True)),
    "bleu, add-k": (BLEU(smooth_method="add-k"), sacrebleu.BLEU(smooth_method="add-k")),
    "bleu, none": (BLEU(smooth_method="none"), sacrebleu.BLEU(smooth_method="none")),
    "bleu, floor 0": (
        BLEU(smooth_method="floor", smooth_value=0),
        sacrebleu.BLEU(smooth_method="floor", smooth_value=0),
    ),
    "chrf": (CHRF(), sacrebleu.CHRF()),
    "chrf++": (
        CHRF(word_order=2, lowercase=True, whitespace=True, eps_smoothing=True),
        sacrebleu.CHRF(word_order=2, lowercase=True, whitespace=True, eps_smoothing=True),
    ),
    "ter": (TER(), sacrebleu.TER()),
    "ter, switched": (
        TER(normalized=True, no_punct=True, case_sensitive=True, asian_support=True),
        sacrebleu.TER(normalized=True, no_punct=True, case_sensitive=True, asian_support=True),
    ),
}
every_pair = pytest.mark.parametrize(("ours", "theirs"), PAIRS.values(), ids=PAIRS)
FEW = {
    name: Texts(each.hypotheses[:6], [lines[:6] for lines in each.references])
    for name, each in REFERENCES.items()
    if name != "one"
}


@pytest.mark.parametrize("texts", FEW.values(), ids=FEW)
@every_pair
def test_scores_names_and_signatures_are_sacrebleus(ours, theirs, texts):
    expected = theirs.corpus_score(*texts)
    found = ours.corpus_score(*texts)
    assert found.score == pytest.approx(expected.score, abs=1e-9, rel=0)
    assert found.name == expected.name
    assert without_version(found.signature) == without_version(str(theirs.get_signature()))


def without_version(signature):
    return signature.rpartition("|version:")[0]


@every_pair
def test_a_signature_names_the_same_settings_as_sacrebleus(ours, theirs):
    theirs.corpus_score(["a"], [["a"]])
    signature = theirs.get_signature().format()
    assert without_version(ours.get_signature()) == without_version(signature)
    assert ours.get_signature().endswith("|version:assay-" + _version())
    assert parse(f"{ours.title}|{signature}") == ours


def _version():
    from assay import __version__

    return __version__


@every_pair
@pytest.mark.filterwarnings("ignore:BLEU without effective order")
def test_a_sentence_is_scored_as_by_sacrebleu(ours, theirs):
    for line, *references in zip(FEW["two"].hypotheses, *FEW["two"].references, strict=True):
        found, expected = (each.sentence_score(line, references) for each in (ours, theirs))
        assert found.score == pytest.approx(expected.score, abs=1e-9, rel=0)
        assert found.signature.startswith("nrefs:2|")


def test_bleu_of_a_sentence_wants_effective_order_as_in_sacrebleu(caplog):
    line, references = "a cat", ["a cat"]
    with caplog.at_level("WARNING", logger="sacrebleu"):
        theirs = sacrebleu.BLEU().sentence_score(line, references)
    assert "recommended to enable `effective_order`" in caplog.text
    with pytest.warns(UserWarning, match="segments of fewer than 4 words score 0"):
        assert parse("bleu").sentence_score(line, references).score == theirs.score == 0
    effective = parse("bleu:effective_order=yes").sentence_score(line, references)
    wanted = sacrebleu.sentence_bleu(line, references)
    assert effective.score == pytest.approx(wanted.score, abs=1e-9)
    assert "|eff:yes|" in effective.signature


BLEUS = {name: pair for name, pair in PAIRS.items() if name.startswith("bleu")}
ODD = Texts(["a b c d", "x y", "", "one"], [["q r", "x y", "z", "two"]])


@pytest.mark.parametrize(
    "texts",
    [
        FEW["two"],
        FEW["uneven"],
        hostile(SHORT),
        ODD,
        Texts(["a b c"], [["d e f"]]),
        Texts([""], [[""]]),
        Texts([""], [["a"]]),
        Texts(["a"], [["a"]]),
    ],
    ids=["two", "uneven", "hostile", "odd", "no match", "nothing", "no words", "one word"],
)
@pytest.mark.parametrize(("ours", "theirs"), BLEUS.values(), ids=BLEUS)
def test_the_parts_of_a_bleu_score_are_sacrebleus(ours, theirs, texts):
    found, expected = ours.corpus_score(*texts), theirs.corpus_score(*texts)
    assert found.precisions == pytest.approx(expected.precisions, abs=1e-9, rel=0)
    assert found.bp == pytest.approx(expected.bp, abs=1e-12, rel=0)
    assert (found.sys_len, found.ref_len) == (expected.sys_len, expected.ref_len)
    # With add-k sacreBLEU's counts have k in them, but for the first order and where nothing
    # matches; ours are counts.
    added = 1 if ours.smooth_method == "add-k" and any(found.counts) else 0
    assert [found.counts[0], *(each + added for each in found.counts[1:])] == expected.counts
    assert [found.totals[0], *(each + added for each in found.totals[1:])] == expected.totals


def test_a_score_prints_like_sacrebleus():
    found, expected = (each.corpus_score(*FEW["two"]) for each in PAIRS["bleu"])
    line = expected.format(width=2, signature=found.signature)
    assert found.format() == str(found) == line
    found, expected = (each.corpus_score(*FEW["two"]) for each in PAIRS["chrf"])
    assert str(found) == expected.format(width=2, signature=found.signature)
    assert found.format(4) == expected.format(width=4, signature=found.signature)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("BLEU", BLEU()),
        ("chrF++", CHRF(word_order=2)),
        ("chrF2++", CHRF(word_order=2)),
        ("chrf1", CHRF(beta=1)),
        ("MacroF1", MacroF()),
        ("macrof3", MacroF(beta=3)),
        ("microf0.5", MicroF(beta=0.5)),
        ("rouge1", ROUGE(type="1")),
        ("ROUGE-L", ROUGE(type="L")),
        ("rougeLsum", ROUGE(type="Lsum")),
        ("cer", WER(unit="char")),
        ("bleu:tokenize=zh", BLEU(tokenize="zh")),
        ("TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0", TER()),
        (
            "BLEU|nrefs:2|bs:1000|seed:12345|case:lc|eff:yes|tok:intl|smooth:floor[0.25]|version:2.3",
            BLEU(True, True, "intl", "floor", 0.25),
        ),
    ],
)
def test_names_and_signatures_that_people_bring_along_are_understood(name, metric):
    assert parse(name) == metric


@pytest.fixture
def lengths(monkeypatch):
    """A registered metric of one's own, forgotten afterwards."""
    monkeypatch.setattr(METRICS, "_registered", {})

    @register
    @dataclass(frozen=True)
    class Lengths(Metric):
        """Hypothesis words per reference word, in percent."""

        name: ClassVar[str] = "lengths"
        factor: int = 1

        def rows(self, segments: Sequence[Segment]):
            return np.array(
                [[len(s.hypothesis.split()), len(s.references[0].split())] for s in segments], float
            )

        def aggregate(self, sums):
            return 100 * self.factor * sums[:, 0] / sums[:, 1]

    return Lengths


def test_a_metric_of_ones_own_is_parsed_listed_and_scored(lengths):
    assert parse("lengths") == lengths()
    assert parse("Lengths:factor=2") == lengths(2)
    assert "lengths" in METRICS.names()
    assert lengths() in registered()
    assert str(lengths(3)) == "lengths:factor=3"
    score = parse("lengths").corpus_score(["a b c", "d"], [["a", "b"]])
    assert score.score == 200
    statistics = lengths().statistics([Segment("a", ("b",)), Segment("a b", ("c",))])
    assert statistics.without_each().tolist() == [200, 100]


def test_a_built_in_name_cannot_be_taken(lengths):
    class Other(lengths):
        name: ClassVar[str] = "bleu"

    with pytest.raises(DataError, match="there is a metric called 'bleu' already"):
        register(Other)


def test_references_that_are_kept_leave_nothing_to_say_as_python_ends():
    code = """
import assay
assay.CHRF().corpus_score(["a cat"], [["the cat"]])
assay.score({"one": ["a cat"]}, [["the cat"]], ["chrf"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
