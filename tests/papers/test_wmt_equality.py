"""On real systems, BLEU, chrF and TER are sacreBLEU's to the ninth decimal."""

import pytest
import sacrebleu

from assay import BLEU, CHRF, TER
from tests.corpora import Texts, read_lines

WMT18 = ("cs-en", "de-en", "en-de", "en-zh", "et-en", "fi-en", "ru-en", "tr-en", "zh-en")
WMT21_REFERENCES = {"one reference": ["A"], "two references": ["A", "B"]}


@pytest.fixture(autouse=True)
def _quiet(caplog):
    # It advises effective_order for every single sentence.
    caplog.set_level("ERROR", "sacrebleu")


def close(value):
    return pytest.approx(value, abs=1e-9, rel=0)


def read_systems(folder):
    """The lines of every system of a folder, by name."""
    return {path.stem: read_lines(path) for path in sorted((folder / "systems").glob("*.txt"))}


THEIRS = 6
"""Every sixth of the systems is scored: sacreBLEU takes long."""


def corpus_scores(metric, systems, references):
    """Our corpus score of every one of these systems, from one batch."""
    size = len(references[0])
    lines = [line for each in systems for line in each]
    together = metric.statistics(
        Texts(lines, [each * len(systems) for each in references]).segments()
    )
    return [together[at * size : (at + 1) * size].corpus() for at in range(len(systems))]


def assert_corpus_scores_are_equal(ours, make_theirs, systems, references):
    theirs = make_theirs(references=references)
    asked = list(systems.values())[::THEIRS]
    expected = [theirs.corpus_score(lines, None).score for lines in asked]
    assert corpus_scores(ours, asked, references) == close(expected)


def assert_segments_are_equal(ours, theirs, lines, references):
    segments = Texts(lines, references).segments()
    expected = [theirs.sentence_score(each.hypothesis, each.references).score for each in segments]
    assert ours.statistics(segments).segments() == close(expected)


def tokenizer_of(pair):
    return "zh" if pair == "en-zh" else "13a"


@pytest.mark.parametrize("pair", WMT18)
def test_bleu_of_wmt18_systems_is_sacrebleus(pair, shared):
    folder = shared / "wmt18" / pair
    systems, references = read_systems(folder), [read_lines(folder / "ref.txt")]
    options = {"tokenize": tokenizer_of(pair)}
    assert_corpus_scores_are_equal(
        BLEU(**options), lambda **more: sacrebleu.BLEU(**options, **more), systems, references
    )


@pytest.mark.parametrize("pair", WMT18)
def test_chrf_of_wmt18_systems_is_sacrebleus(pair, shared):
    folder = shared / "wmt18" / pair
    systems, references = read_systems(folder), [read_lines(folder / "ref.txt")]
    assert_corpus_scores_are_equal(CHRF(), sacrebleu.CHRF, systems, references)


@pytest.mark.parametrize("pair", WMT18)
def test_segments_of_a_wmt18_system_are_sacrebleus(pair, shared):
    folder = shared / "wmt18" / pair
    lines, references = _one_system(folder)[::2], [read_lines(folder / "ref.txt")[::2]]
    options = {"tokenize": tokenizer_of(pair), "effective_order": True}
    assert_segments_are_equal(BLEU(**options), sacrebleu.BLEU(**options), lines, references)
    options = {"word_order": 2}
    assert_segments_are_equal(CHRF(**options), sacrebleu.CHRF(**options), lines, references)


@pytest.mark.parametrize("pair", WMT18)
def test_ter_of_a_wmt18_system_is_sacrebleus(pair, shared):
    folder = shared / "wmt18" / pair
    lines, reference = _one_system(folder), read_lines(folder / "ref.txt")
    step = len(lines) // 60
    # Chinese is words only after normalising with Asian support.
    asian = {"normalized": True, "asian_support": True} if pair == "en-zh" else {}
    ours, theirs = TER(**asian), sacrebleu.TER(**asian)
    texts = Texts(lines[::step][:60], [reference[::step][:60]])
    assert len(texts.hypotheses) == 60
    assert_segments_are_equal(ours, theirs, *texts)
    total = theirs.corpus_score(*texts).score
    assert ours.statistics(texts.segments()).corpus() == close(total)


def _one_system(folder):
    """Neither the best nor the worst by design: the one in the middle of the alphabet."""
    paths = sorted((folder / "systems").glob("*.txt"))
    return read_lines(paths[len(paths) // 2])


@pytest.fixture(scope="module")
def wmt21(shared):
    """The systems of newstest2021 de-en."""
    return read_systems(shared / "wmt21" / "de-en")


def wmt21_references(shared, names):
    return [read_lines(shared / "wmt21" / "de-en" / f"ref.{name}.txt") for name in names]


@pytest.mark.parametrize("names", WMT21_REFERENCES.values(), ids=WMT21_REFERENCES)
def test_bleu_of_wmt21_systems_is_sacrebleus(names, wmt21, shared):
    references = wmt21_references(shared, names)
    assert_corpus_scores_are_equal(BLEU(), sacrebleu.BLEU, wmt21, references)


@pytest.mark.parametrize("names", WMT21_REFERENCES.values(), ids=WMT21_REFERENCES)
def test_chrf_of_wmt21_systems_is_sacrebleus(names, wmt21, shared):
    references = wmt21_references(shared, names)
    assert_corpus_scores_are_equal(CHRF(), sacrebleu.CHRF, wmt21, references)


@pytest.mark.parametrize("which", [0, 7, -1], ids=["first", "eighth", "last"])
@pytest.mark.parametrize("names", WMT21_REFERENCES.values(), ids=WMT21_REFERENCES)
def test_segments_of_wmt21_systems_are_sacrebleus(names, which, wmt21, shared):
    lines, references = list(wmt21.values())[which], wmt21_references(shared, names)
    options = {"effective_order": True}
    assert_segments_are_equal(BLEU(**options), sacrebleu.BLEU(**options), lines, references)
    assert_segments_are_equal(CHRF(), sacrebleu.CHRF(), lines, references)
