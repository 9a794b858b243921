"""The parts of agreement: human scores by level, outliers, rounding, summaries, tables."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.agreement.panel import (
    Candidate,
    Rounding,
    as_printed,
    computed,
    human_at,
    outliers,
    scores_at,
)
from assay.agreement.panel import given as given_scores
from assay.agreement.report import summarise
from assay.agreement.tables import read_score_table
from assay.data import DataError, Dataset, Scores, human_outputs, is_human, without_humans
from assay.metrics.base import METRICS, parse

numbers = st.floats(-5, 5).map(lambda each: round(each, 2))
DOCUMENTS = ("x", "y", "x", "z", "y")


def segment_scores(values, name="da"):
    values = np.asarray(values, float)
    systems = tuple(f"s{at}" for at in range(len(values)))
    items = tuple(str(at + 1) for at in range(values.shape[1]))
    return Scores(name, "segment", systems, items, values)


@given(arrays(float, (3, 5), elements=st.one_of(numbers, st.just(math.nan))))
def test_means_over_rated_segments_are_the_obvious_ones(values):
    scores = segment_scores(values)
    by_document = scores_at(scores, "document", DOCUMENTS)
    by_system = scores_at(scores, "system")
    assert by_document.items == ("x", "y", "z")
    for row, own in enumerate(values):
        known = [each for each in own if not math.isnan(each)]
        assert by_system.values[row, 0] == pytest.approx(_mean(known), nan_ok=True)
        for column, document in enumerate("xyz"):
            inside = zip(own, DOCUMENTS, strict=True)
            rated = [v for v, each in inside if each == document and not math.isnan(v)]
            assert by_document.values[row, column] == pytest.approx(_mean(rated), nan_ok=True)


def _mean(values):
    return statistics.fmean(values) if values else math.nan


def test_scores_of_the_level_come_before_means_of_segments():
    segments = replace(segment_scores([[1, 2], [3, 4]]), source="seg.tsv")
    values = np.array([[9.0], [8.0]])
    systems = Scores("da", "system", ("s0", "s1"), ("",), values, source="sys.tsv")
    (chosen,) = human_at([segments, systems], "system", ())
    assert chosen.scores is systems
    assert chosen.source == "sys.tsv"
    assert (chosen.ratings == segments.values).all()
    (derived,) = human_at([segments], "system", ())
    assert derived.scores.values.tolist() == [[1.5], [3.5]]
    assert derived.source == "means of the rated segments in seg.tsv"


@pytest.mark.parametrize(
    ("asked", "effective"), [("bleu", "yes"), ("bleu:effective_order=no", "no")]
)
def test_segments_are_scored_as_sacrebleu_scores_sentences(asked, effective):
    outputs = ("Yes.", "The cat sat on the mat.", "Hello you", "No cat at all")
    references = ("Yes!", "The cat sat on a mat.", "Hello you", "No cats at all")
    dataset = Dataset({"s": outputs}, tuple((each,) for each in references))
    (candidate,) = computed(dataset, [parse(asked)], granularity="segment")
    oracle = sacrebleu.BLEU(effective_order=effective == "yes")
    wanted = [
        oracle.sentence_score(text, [reference]).score
        for text, reference in zip(outputs, references, strict=True)
    ]
    assert candidate.scores[0] == pytest.approx(wanted, abs=1e-9)
    assert f"eff:{effective}" in candidate.signature
    (whole,) = computed(dataset, [parse(asked)], granularity="system")
    assert "eff:no" in whole.signature


def test_system_scores_do_not_fit_segments():
    systems = Scores("da", "system", ("s0",), ("",), np.array([[9.0]]))
    with pytest.raises(DataError, match=r"no human scores fit segment level: there are da \(sys"):
        human_at([replace(systems, source="sys.tsv")], "segment", ())


def test_two_files_of_one_name_are_refused():
    segments = segment_scores([[1, 2]])
    with pytest.raises(DataError, match=r"b\.tsv and a\.tsv are both human scores called 'da'"):
        human_at(
            [replace(segments, source="a.tsv"), replace(segments, source="b.tsv")], "segment", ()
        )


@given(st.lists(numbers, min_size=1, max_size=12))
def test_outliers_are_those_of_the_obvious_rule(values):
    middle = statistics.median(values)
    deviation = 1.483 * statistics.median(abs(value - middle) for value in values)
    slow = [deviation > 0 and abs(value - middle) > 2.5 * deviation for value in values]
    assert outliers(np.array(values)).tolist() == slow


def test_outliers_begin_at_two_and_a_half_robust_deviations():
    beside = [-1.0, -1.0, 0.0, 1.0]  # with one far above: the median is 0, the deviation 1.483
    far = [bool(outliers(np.array([*beside, above]))[-1]) for above in (3.707, 2.5 * 1.483, 3.708)]
    assert far == [False, False, True]


def test_an_unknown_score_is_no_outlier():
    found = outliers(np.array([1.0, 1.1, 0.9, 1.05, 9.0, math.nan]))
    assert found.tolist() == [False, False, False, False, True, False]
    assert outliers(np.array([math.nan, math.nan])).tolist() == [False, False]


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Human-A.0", True), ("HUMAN", True), ("refA", True), ("ref-B", True), ("ref.b", True),
        ("reference", True), ("Human-P.0", True), ("ref", True),
        ("refine.12", False), ("HumanNLP", False), ("Online-A.0", False), ("prefA", False),
    ],
)  # fmt: skip
def test_people_are_known_by_their_names(name, person):
    assert is_human(name) is person


def dataset():
    systems = {"copy": ("a b", "c d"), "machine": ("a x", "c y"), "Human-C": ("a z", "c z")}
    return Dataset(systems, (("p q", "a b"), ("r s", "c d")))


def test_a_system_that_is_a_reference_is_human():
    assert human_outputs(dataset()) == ["copy", "Human-C"]
    assert list(without_humans(dataset()).systems) == ["machine"]


def test_people_alone_cannot_be_compared():
    people = Dataset({"refA": ("a",), "refB": ("b",)}, (("a",),))
    with pytest.raises(DataError, match=r"all systems are human translations .*humans=.in"):
        without_humans(people)


@given(arrays(float, (2, 3), elements=st.floats(0, 100)), st.integers(0, 4))
def test_scores_are_rounded_as_python_prints_them(values, digits):
    expected = [[float(f"{each:.{digits}f}") for each in row] for row in values]
    assert as_printed(values, digits).tolist() == expected


def test_one_metric_may_have_other_decimals():
    scores = np.array([[59.47], [59.13]])
    candidates = [
        Candidate("bleu", "BLEU", scores),
        Candidate("chrf:beta=1,legacy=yes", "chrF1", scores),
    ]
    for name in ("chrf1", "chrF1", "chrf:beta=1,legacy=yes", "chrf:legacy=yes,beta=1"):
        bleu, chrf = Rounding(1, {name: 0}).apply(candidates)
        assert bleu.scores.tolist() == [[59.5], [59.1]]
        assert chrf.scores.tolist() == [[59.0], [59.0]]
    assert Rounding().apply(candidates)[0].scores is scores


def test_rounding_that_makes_no_sense_is_refused():
    with pytest.raises(DataError, match=r"no metric 'blue' .did you mean 'BLEU'"):
        Rounding(None, {"blue": 1}).apply([Candidate("bleu", "BLEU", np.zeros((1, 1)))])


def test_scores_at_every_level_are_those_of_the_statistics():
    lines = ("a b c d e", "f g h i j", "a f", "b g h", "c")
    systems = {"one": lines, "two": ("a b c d", "f g", "a f", "b", "c")}
    texts = Dataset(systems, tuple((line,) for line in lines), documents=DOCUMENTS)
    (metric,) = METRICS.parse_all(["ter"])
    for granularity, count in (("system", 1), ("segment", 5), ("document", 3)):
        (candidate,) = computed(texts, [metric], granularity=granularity)
        assert candidate.scores.shape == (2, count)
        assert candidate.lower
        assert (candidate.oriented == -candidate.scores).all()
    per_document = computed(texts, [metric], granularity="document")[0].scores[1]
    segments = texts.segments("two")
    slow = [
        metric.statistics(
            [s for s, document in zip(segments, DOCUMENTS, strict=True) if document == d]
        ).corpus()
        for d in "xyz"
    ]
    assert per_document == pytest.approx(slow)


@pytest.mark.parametrize(
    ("name", "sign", "lower"),
    [("ter", 1, True), ("TER-refA", 1, True), ("TER-refA", -1, False), ("comet", 1, False)],
)
def test_error_rates_from_elsewhere_are_known_by_name_unless_negative(name, sign, lower):
    scores = segment_scores(sign * np.array([[1.0, 2.0]]), name)
    texts = Dataset({"s0": ("a", "b")}, (("a",), ("b",)))
    assert given_scores(scores, texts, granularity="system").lower is lower
    assert given_scores(scores, texts, granularity="system", lower=[name]).lower


def slow_summary(values, p, paper):
    """Mean, median, SD and wins by plain loops."""
    shown = [[round(abs(v), 3) if paper else v for v in row] for row in values]
    fine = [[p[i][j] < 0.05 for j in range(len(row))] for i, row in enumerate(values)]
    kept = [row for i, row in enumerate(shown) if not paper or all(fine[i])]
    columns = list(zip(*kept, strict=True))
    wins = [0] * len(values[0])
    for i, row in enumerate(shown):
        allowed = [v for j, v in enumerate(row) if not paper or fine[i][j]]
        for j, v in enumerate(row):
            wins[j] += v in allowed and v == max(allowed) and (not paper or fine[i][j])
    return (
        [statistics.fmean(column) for column in columns],
        [statistics.median(column) for column in columns],
        [statistics.stdev(column) for column in columns if len(column) > 1],
        wins,
    )


cells = st.sampled_from([0.9, 0.85, 0.8504, 0.2, -0.3, 0.0])


@pytest.mark.parametrize("leave_out", ["none", "paper"])
@given(
    arrays(float, (5, 3), elements=cells),
    arrays(float, (5, 3), elements=st.sampled_from([0.001, 0.04, 0.05, 0.6])),
)
def test_summaries_are_the_obvious_ones(leave_out, values, p):
    mean, median, sd, wins = slow_summary(values.tolist(), p.tolist(), leave_out == "paper")
    found = summarise(values, p, leave_out=leave_out)
    assert found.wins.tolist() == wins
    if mean:
        assert found.mean == pytest.approx(mean)
        assert found.median == pytest.approx(median)
    else:
        assert np.isnan(found.mean).all()
    if sd:
        assert found.sd == pytest.approx(sd)
    else:
        assert np.isnan(found.sd).all()


def test_a_pair_with_an_unknown_value_counts_for_nobody():
    values = np.array([[0.5, 0.6], [0.9, math.nan], [0.7, 0.4]])
    found = summarise(values, np.zeros((3, 2)))
    assert found.kept.tolist() == [True, False, True]
    assert found.mean == pytest.approx([0.6, 0.5])
    assert found.wins.tolist() == [2, 1]


def test_a_coefficient_without_p_is_not_held_against_a_pair():
    found = summarise(np.array([[0.5, 0.6]]), np.full((1, 2), math.nan), leave_out="paper")
    assert found.kept.tolist() == [True]


@pytest.fixture
def table(tmp_path):
    """Writes a table; gives back what reading it gives."""

    def write(text, name="scores.tsv", **columns):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return read_score_table(path, **columns)

    return write


def test_a_table_is_cut_into_pairs(table):
    read = table(
        "Year\tLangs\tSystem\tHuman\tBLEU\tTER\n"
        "2018\taa-bb\tone\t0.5\t30\t60\t\n2018\taa-bb\ttwo\t\t31\t50\t\n2018\tcc-dd\tone\t1\t5\t\n"
    )
    first, second = read.panels(metrics=["bleu", "TER"])
    assert (first.pair, first.systems) == ("aa-bb", ("one", "two"))
    assert first.human.tolist()[0] == [0.5]
    assert math.isnan(first.human[1, 0])
    bleu, ter = first.candidates
    assert (bleu.name, bleu.lower, ter.lower) == ("BLEU", False, True)
    assert ter.scores.tolist() == [[60.0], [50.0]]
    assert second.pair == "cc-dd"
    assert math.isnan(second.candidates[1].scores[0, 0])


def test_commas_may_stand_within_quotation_marks(table):
    read = table('system,human,chrf\n"one, two",0.5,30\nthree,0.7,20\n', "scores.csv")
    (panel,) = read.panels()
    assert panel.systems == ("one, two", "three")
    assert [candidate.name for candidate in panel.candidates] == ["chrf"]


def test_rows_without_names_are_numbered_and_pairs_may_take_two_columns(table):
    text = "Lang\tSet\tRBO\tBLEU\ncs\ta\t1\t2\ncs\ta\t2\t3\ncs\tb\t1\t2\n"
    first, second = table(text, pair_columns=["Lang", "Set"]).panels(human=["RBO"])
    assert (first.pair, first.systems) == ("cs a", ("1", "2"))
    assert second.pair == "cs b"


def test_less_is_better_for_named_columns(table):
    read = table("system\tHTER\tloss\nx\t1\t5\ny\t2\t6\n")
    (panel,) = read.panels(human=["HTER"], lower=["HTER", "loss"])
    assert panel.human.tolist() == [[-1.0], [-2.0]]
    assert panel.candidates[0].lower


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a\tb\n1\t2\n", {}, r"which column holds the human scores\?"),
        ("human\tb\n1\t2\n", {"metrics": ["c"]}, "no column 'c'"),
        ("human\tb\n1\tx\n", {"metrics": ["b"]}, "line 2, b: 'x' is not a number"),
        ("human\tb\n1\tinf\n", {"metrics": ["b"]}, "line 2, b: 'inf' is not a number"),
        ("human\tb\n1\tx\n", {}, "no column of numbers beside people's"),
        ("human\tb\n1\n", {}, "line 2: 1 cells, but the header names 2"),
        ("human\tb\n1\t2\t3\n", {}, "line 2: 3 cells, but the header names 2"),
        ("human\tb\n", {}, "has a header but no rows"),
        ("human\tb\tb\n1\t2\t3\n", {}, "two columns are called 'b'"),
        ("system\thuman\tb\nx\t1\t2\nx\t1\t2\n", {}, "line 3: 'x' stands on line 2 already"),
    ],
)
def test_tables_that_make_no_sense_are_refused(table, text, options, message):
    with pytest.raises(DataError, match=message):
        table(text).panels(**options)
