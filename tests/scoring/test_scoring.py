"""What `score` gives back, held against slow and obvious versions."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import assay
from assay.data import DataError, Dataset, Scores, Segment
from assay.metrics.base import METRICS
from assay.metrics.bleu import BLEU
from assay.metrics.mean import Mean
from assay.scoring import ScoreOptions, score, score_dataset, score_each
from assay.statistics.significance import all_pairs, holm
from tests.corpora import demo
from tests.given import plain

NAMES = ("atlas", "birch", "cedar")
SYSTEMS = {name: tuple(demo(f"systems/{name}.txt")) for name in NAMES}
REFERENCE = demo("ref.A.txt")
DOCUMENTS = tuple(f"d{at % 7}" for at in range(120))
DATASET = Dataset(SYSTEMS, tuple((line,) for line in REFERENCE), documents=DOCUMENTS)
SCORED = ("bleu", "ter", "macrof")
EVERYTHING = ScoreOptions(
    segments=True,
    documents=True,
    confidence=True,
    test="bootstrap",
    all_pairs=True,
    resamples=200,
)
KEYS = [
    *("system", "metric", "resolved", "signature", "score"),
    *("low", "high", "baseline", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "test", "effect", "cluster", "document", "n", "segment"),
]


@pytest.fixture(scope="module")
def everything():
    return score_dataset(DATASET, METRICS.parse_all(SCORED), options=EVERYTHING)


@pytest.fixture(scope="module")
def records(everything):
    return everything.records()


def kind(record):
    for key in ("segment", "document", "baseline"):
        if record[key] is not None:
            return key
    return "corpus"


def of(records, wanted, metric="bleu"):
    return [each for each in records if kind(each) == wanted and each["metric"] == metric]


def corpus_score(metric, lines, references):
    segments = [Segment(line, (other,)) for line, other in zip(lines, references, strict=True)]
    return metric.statistics(segments).corpus()


def refusal(*arguments, **options):
    with pytest.raises(DataError) as caught:
        score(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_all_records_have_the_same_keys(records):
    assert {tuple(each) for each in records} == {tuple(KEYS)}


def test_there_is_a_record_for_everything_asked(records):
    for metric in SCORED:
        assert [each["system"] for each in of(records, "corpus", metric)] == list(NAMES)
        pairs = [(each["system"], each["baseline"]) for each in of(records, "baseline", metric)]
        assert pairs == [("atlas", "birch"), ("atlas", "cedar"), ("birch", "cedar")]
        assert len(of(records, "document", metric)) == 3 * 7
        assert len(of(records, "segment", metric)) == 3 * 120


@pytest.mark.parametrize("metric", METRICS.parse_all(SCORED), ids=str)
def test_documents_and_segments_are_scored_alone(records, metric):
    for each in of(records, "document", str(metric)):
        chosen = [at for at, name in enumerate(DOCUMENTS) if name == each["document"]]
        lines = [SYSTEMS[each["system"]][at] for at in chosen]
        wanted = corpus_score(metric, lines, [REFERENCE[at] for at in chosen])
        assert each["score"] == pytest.approx(wanted, abs=1e-9)
    for each in of(records, "segment", str(metric))[::17]:
        at = each["segment"] - 1
        wanted = corpus_score(metric, [SYSTEMS[each["system"]][at]], [REFERENCE[at]])
        assert each["score"] == pytest.approx(wanted, abs=1e-9)


def test_intervals_are_those_of_scoring_every_resample_anew(records):
    metric = BLEU()
    draws = np.random.default_rng(12345).choice(120, size=(200, 120))
    for each in of(records, "corpus"):
        lines = SYSTEMS[each["system"]]
        replicates = [
            corpus_score(metric, [lines[at] for at in draw], [REFERENCE[at] for at in draw])
            for draw in draws
        ]
        left_out = [
            corpus_score(
                metric,
                [*lines[:at], *lines[at + 1 :]],
                [*REFERENCE[:at], *REFERENCE[at + 1 :]],
            )
            for at in range(120)
        ]
        # BCa as Efron and Tibshirani (1993, chapter 14) write it down.
        shift = stats.norm.ppf(np.mean(np.array(replicates) < each["score"]))
        pull = np.mean(left_out) - left_out
        speed = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
        moved = shift + stats.norm.ppf([0.025, 0.975])
        tails = stats.norm.cdf(shift + moved / (1 - speed * moved))
        assert [each["low"], each["high"]] == pytest.approx(np.quantile(replicates, tails))


def test_p_is_that_of_scoring_every_resample_anew(records):
    draws = np.random.default_rng(12345).choice(120, size=(200, 120))
    replicates = {
        name: np.array(
            [
                corpus_score(BLEU(), [lines[i] for i in draw], [REFERENCE[i] for i in draw])
                for draw in draws
            ]
        )
        for name, lines in SYSTEMS.items()
    }
    for each in of(records, "baseline"):
        differences = replicates[each["system"]] - replicates[each["baseline"]]
        far = np.abs(differences - differences.mean()) >= abs(each["difference"]) - 1e-9
        assert each["p"] == pytest.approx((far.sum() + 1) / 201)


def test_clusters_part_what_differs(records):
    assert [each["cluster"] for each in of(records, "corpus", "bleu")] == [1, 1, 2]
    assert [each["cluster"] for each in of(records, "corpus", "macrof")] == [1, 2, 3]


def test_differences_are_of_the_scores(records):
    for metric in SCORED:
        whole = {each["system"]: each["score"] for each in of(records, "corpus", metric)}
        for each in of(records, "baseline", metric):
            difference = whole[each["system"]] - whole[each["baseline"]]
            assert each["difference"] == pytest.approx(difference)
            assert each["score"] == whole[each["system"]]


def test_asking_more_does_not_change_an_answer(records):
    for options in (
        ScoreOptions(confidence=True, resamples=200),
        ScoreOptions(documents=True),
        ScoreOptions(segments=True),
        ScoreOptions(test="bootstrap", all_pairs=True, resamples=200),
    ):
        alone = score_dataset(DATASET, METRICS.parse_all(SCORED), options=options).records()
        for each in alone:
            assert any(each.items() <= other.items() for other in _without_none(records, each))


def _without_none(records, wanted):
    """The records about the same thing; what was not asked for is not compared."""
    for each in records:
        if all(each[key] == wanted[key] for key in ("system", "metric")):
            yield {key: each[key] for key in wanted}


def test_without_all_pairs_the_others_are_compared_with_the_first():
    options = ScoreOptions(test="randomisation", trials=200, resamples=50)
    found = score_dataset(DATASET, METRICS.parse_all(["chrf"]), options=options).records()
    assert [each["baseline"] for each in found] == [None, "atlas", "atlas"]
    assert found[0]["p"] is None
    assert all(0 < each["p"] <= 1 for each in found[1:])


def test_tables_show_what_the_records_say(everything, records):
    titles = [table.title for table in everything.tables()]
    assert titles == [
        "Scores",
        *("BLEU: how sure is it?", "BLEU: every pair"),
        *("TER: how sure is it?", "TER: every pair"),
        *("MacroF1: how sure is it?", "MacroF1: every pair"),
        *("BLEU by document", "BLEU by segment"),
        *("TER by document", "TER by segment"),
        *("MacroF1 by document", "MacroF1 by segment"),
    ]
    tables = dict(zip(titles, everything.tables(), strict=True))
    overview = tables["Scores"]
    assert overview.headings == ("system", "BLEU ↑", "TER ↓", "MacroF1 ↑")
    assert [each.direction for each in overview.typed_columns] == [None, "high", "low", "high"]
    assert overview.note.splitlines() == [
        of(records, "corpus", metric)[0]["signature"] for metric in SCORED
    ]
    for row in overview.rows:
        assert plain(row[1:]) == [
            next(e["score"] for e in of(records, "corpus", metric) if e["system"] == row[0])
            for metric in SCORED
        ]
    sure = [tuple(row[:5]) for row in tables["BLEU: how sure is it?"].rows]
    keys = ("system", "score", "low", "high", "cluster")
    ranked = sorted(of(records, "corpus"), key=lambda each: (each["cluster"], -each["score"]))
    assert sure == [tuple(each[key] for key in keys) for each in ranked]
    grid = tables["TER by document"]
    assert grid.headings == ("document", "n", *NAMES)
    assert {row[0]: row[1] for row in grid.rows} == Counter(DOCUMENTS)
    cells = {
        (name, row[0]): cell for row in grid.rows for name, cell in zip(NAMES, row[2:], strict=True)
    }
    assert cells == {
        (each["system"], each["document"]): each["score"] for each in of(records, "document", "ter")
    }
    assert len(tables["BLEU by segment"].rows) == 120
    assert all(len(row) == len(t.headings) for t in everything.tables() for row in t.rows)


def test_the_method_is_told_beside_the_figures(everything):
    notes = {table.title: table.note for table in everything.tables()}
    assert notes["BLEU: how sure is it?"].startswith(
        "low, high: 95% BCa bootstrap interval, 200 resamples. cluster: every system of one"
    )
    assert notes["BLEU: every pair"].startswith(
        "low, high: 95% BCa bootstrap interval of the difference, 200 resamples. "
        "p: paired bootstrap, 200 resamples, every pair; * is p < 0.05 after Holm."
    )
    assert notes["MacroF1: how sure is it?"].startswith("low, high: 95% jackknife interval.")
    assert (
        "p: jackknife t-test (a bootstrap of types finds too much)" in notes["MacroF1: every pair"]
    )
    assert "fewer than 20 segments has neither interval nor p" in notes["BLEU by document"]


def test_a_bootstrap_interval_of_types_is_called_approximate():
    options = {"confidence": True, "interval": "bca", "resamples": 9}
    tables = score(SYSTEMS, [REFERENCE], ["bleu", "macrof"], **options).tables()
    assert [("only approximate" in table.note) for table in tables] == [False, False, True]


def test_sacrebleus_statistic_is_named():
    options = {"test": "bootstrap", "statistic": "sacrebleu", "resamples": 9}
    result = score(SYSTEMS, [REFERENCE], ["bleu"], **options)
    assert "sacreBLEU's statistic (approximate: finds too much" in result.tables()[1].note
    assert "9 resamples" in result.tables()[1].note
    assert "sacreBLEU's statistic" in result.records()[1]["test"]


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_the_paired_test_of_types_does_not_find_what_is_not_there(test):
    """Outputs of two systems that change places at random; with the bootstrap a fifth differ."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(120):
        keep = rng.integers(2, size=120).astype(bool)
        pair = zip(keep, SYSTEMS["atlas"], SYSTEMS["birch"], strict=True)
        mixed = [(a, b) if same else (b, a) for same, a, b in pair]
        systems = {"a": [a for a, _ in mixed], "b": [b for _, b in mixed]}
        options = {"test": test, "resamples": 200, "trials": 200}
        found.append(score(systems, [REFERENCE], ["macrof"], **options).records()[1]["p"])
    assert np.mean(np.array(found) < 0.05) < 0.1


HALVES = tuple("part 10" if at % 2 else "part 9" for at in range(120))


@pytest.mark.parametrize("every", [False, True], ids=["baseline", "all pairs"])
@pytest.mark.parametrize("metric", ["bleu", "macrof"])
def test_groups_have_intervals_and_tests_of_their_own(metric, every):
    options = ScoreOptions(
        groups=True, confidence=True, test="bootstrap", all_pairs=every, resamples=100
    )
    dataset = replace(DATASET, groups=HALVES)
    result = score_dataset(dataset, METRICS.parse_all([metric]), options=options)
    whole = result.records()
    assert {each["n"] for each in whole if each["group"]} == {60}
    p = []
    for name in ("part 9", "part 10"):
        chosen = [at for at, group in enumerate(HALVES) if group == name]
        alone = Dataset(
            systems={each: tuple(lines[at] for at in chosen) for each, lines in SYSTEMS.items()},
            references=tuple((REFERENCE[at],) for at in chosen),
        )
        asked = replace(options, groups=False)
        wanted = score_dataset(alone, METRICS.parse_all([metric]), options=asked).records()
        found = [each for each in whole if each["group"] == name]
        keys = ("system", "score", "low", "high", "baseline", "difference_low", "p", "test")
        assert [[each[key] for key in keys] for each in found] == [
            pytest.approx([each[key] for key in keys]) for each in wanted
        ]
        p += [(each["p"], each["p_holm"]) for each in found if each["p"] is not None]
    raw, corrected = zip(*p, strict=True)
    assert corrected == pytest.approx(holm(raw))
    tables = [table for table in result.tables() if "by group" in table.title]
    names = [row[0] for row in tables[0].rows if row[0] is not None]
    assert names == ["part 9", "part 10"], "numbers count as numbers"
    assert any("after Holm over all" in table.note for table in tables)


def test_without_intervals_groups_are_a_plain_table_with_their_sizes():
    dataset = replace(DATASET, groups=HALVES)
    tables = score_dataset(
        dataset, METRICS.parse_all(["bleu"]), options=ScoreOptions(groups=True)
    ).tables()
    assert tables[1].headings == ("group", "n", *NAMES)
    assert tables[1].note == ""


def test_a_pair_has_a_star_where_it_differs_after_holm(everything, records):
    table = everything.tables()[2]
    stars = [row[table.headings.index("")] for row in table.rows]
    assert stars == ["*" if each["p_holm"] < 0.05 else "" for each in of(records, "baseline")]
    assert set(stars) == {"", "*"}


def test_charts_show_every_score_and_for_four_systems_every_pair(everything):
    (bars,) = everything.charts()
    assert len(bars.spec["data"]["values"]) == 3 * 3
    four = replace(DATASET, systems={**SYSTEMS, "ref": tuple(demo("ref.B.txt"))})
    options = replace(EVERYTHING, segments=False, documents=False)
    charts = score_dataset(four, METRICS.parse_all(["bleu", "ter"]), options=options).charts()
    assert [chart.after for chart in charts[1:]] == ["BLEU: every pair", "TER: every pair"]
    assert all(len(chart.spec["data"]["values"]) == 16 for chart in charts[1:])


def test_metrics_of_one_title_have_their_own_tables_and_bars():
    metrics = ["bleu", "bleu:tok=intl", "chrf"]
    result = score(SYSTEMS, [REFERENCE], metrics, confidence=True, resamples=9)
    titles = [table.title for table in result.tables()]
    assert titles[1:] == [
        "bleu: how sure is it?",
        "bleu:tok=intl: how sure is it?",
        "chrF2: how sure is it?",
    ]
    assert result.tables()[0].headings == ("system", "bleu ↑", "bleu:tok=intl ↑", "chrF2 ↑")
    bars = {
        tuple(str(v) for v in each.values()) for each in result.charts()[0].spec["data"]["values"]
    }
    assert len(bars) == 9


def imported(values, systems=NAMES, name="people", level="segment"):
    array = np.asarray(values, float)
    items = tuple(str(at) for at in range(1, array.shape[1] + 1))
    return Scores(name, level, tuple(systems), items, array)


def test_unknown_scores_are_left_out_and_shown_as_unknown():
    values = np.random.default_rng(1).normal(60, 10, (3, 120))
    values[:, 5:40] = np.nan
    values[2] = np.nan
    options = replace(EVERYTHING, resamples=100)
    result = score_dataset(DATASET, [], imported=[imported(values)], options=options)
    found = result.records()
    corpus = of(found, "corpus", "mean:label=people")
    assert corpus[0]["score"] == pytest.approx(np.nanmean(values[0]))
    assert corpus[0]["low"] < corpus[0]["score"] < corpus[0]["high"]
    assert [corpus[2][key] for key in ("score", "low", "high")] == [None] * 3
    assert corpus[2]["cluster"] == max(each["cluster"] for each in corpus)
    segments = of(found, "segment", "mean:label=people")
    for each in segments:
        value = values[NAMES.index(each["system"]), each["segment"] - 1]
        assert each["score"] == (None if math.isnan(value) else value)
    for each in of(found, "document", "mean:label=people"):
        chosen = [at for at, name in enumerate(DOCUMENTS) if name == each["document"]]
        rated = values[NAMES.index(each["system"]), chosen]
        assert each["score"] == (
            pytest.approx(np.nanmean(rated)) if not np.isnan(rated).all() else None
        )
    pairs = {
        (e["system"], e["baseline"]): e["p"] for e in of(found, "baseline", "mean:label=people")
    }
    assert pairs["atlas", "birch"] > 0
    assert pairs["atlas", "cedar"] is None
    assert result.tables()
    assert result.charts()


def test_a_paired_test_of_imported_scores_is_that_of_their_mean():
    values = np.random.default_rng(2).normal(60, 10, (3, 120))
    options = ScoreOptions(test="randomisation", trials=2000, resamples=10)
    found = score_dataset(DATASET, [], imported=[imported(values)], options=options).records()
    for each, other in zip(found[1:], values[1:], strict=True):
        # For 120 normal values the t test gives the same p, but for the drawing of swaps.
        assert each["p"] == pytest.approx(stats.ttest_rel(other, values[0]).pvalue, abs=0.03)


def test_imported_scores_have_no_references_in_their_signature():
    found = score_dataset(DATASET, [], imported=[imported(np.ones((3, 120)))]).records()
    assert found[0]["signature"].startswith("people|label:people|version:assay-")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (imported(np.ones((3, 1)), level="system"), "scores of segments are needed here"),
        (imported(np.ones((3, 119))), "119 scores per system, but there are 120 segments"),
        (imported(np.ones((2, 120)), systems=NAMES[:2]), "people: no scores of cedar."),
    ],
)
def test_imported_scores_that_do_not_fit_are_refused(scores, words):
    with pytest.raises(DataError, match=words):
        score_dataset(DATASET, [], imported=[scores])


def test_two_imported_scores_of_one_name_are_refused():
    scores = imported(np.ones((3, 120)))
    with pytest.raises(DataError, match="two files of scores are called 'people'"):
        score_dataset(DATASET, [], imported=[scores, scores])


def test_metrics_come_one_after_the_other():
    steps = score_each(DATASET, METRICS.parse_all(SCORED))
    assert str(next(steps).metric) == "bleu"
    assert [str(each.metric) for each in steps] == ["ter", "macrof"]


def test_the_best_of_several_references_counts():
    systems = {"a": ["a cat sat here"], "b": ["the dog ran away"]}
    found = score(systems, [["a cat sat here"], ["the dog ran away"]], ["bleu"]).records()
    assert [each["score"] for each in found] == [pytest.approx(100)] * 2
    assert "|nrefs:2|" in found[0]["signature"]
    holes = score({"a": ["x", "y"]}, {"A": ["x", "y"], "B": [None, "z"]}, ["chrf"]).records()
    assert "|nrefs:var|" in holes[0]["signature"]


def test_the_seed_decides_what_is_random():
    options = {"confidence": True, "test": "randomisation", "trials": 100, "resamples": 100}
    first, same, other = (
        score(SYSTEMS, [REFERENCE], ["bleu"], **options, seed=seed).records() for seed in (1, 1, 2)
    )
    assert first == same
    assert [each["low"] for each in first] != [each["low"] for each in other]
    assert [each["score"] for each in first] == [each["score"] for each in other]


def test_metrics_can_be_objects_and_other_iterables():
    wanted = score(SYSTEMS, [REFERENCE], ["bleu", "ter"]).records()
    metrics = (each for each in (assay.BLEU(), "ter"))
    assert score(SYSTEMS, [REFERENCE], metrics).records() == wanted


def test_identical_systems_are_one_cluster_with_p_1():
    options = {"confidence": True, "test": "bootstrap", "all_pairs": True, "resamples": 50}
    twins = {"one": SYSTEMS["atlas"], "two": SYSTEMS["atlas"]}
    found = score(twins, [REFERENCE], ["bleu", "macrof", "ter"], **options).records()
    assert {each["p"] for each in found if each["baseline"]} == {1.0}
    assert {each["cluster"] for each in found if each["cluster"]} == {1}
    assert {each["effect"] for each in found if each["baseline"]} == {0.0}


TWO = {"a": ["x", "y"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({}, [["x"]]), "systems are given by name: pass {name: lines, ...}."),
        ((["x"], [["x"]]), "systems are given by name"),
        (({"a": "x"}, [["x"]]), "system 'a' is one string; pass a list of lines."),
        (({"a": ["x", None]}, {"A": ["x", "y"]}), "system 'a', segment 2: None is not a text."),
        (({"a": []}, [[]]), "nothing to score"),
        ((TWO, ["x", "y"]), "pass [reference_lines], not reference_lines."),
        ((TWO, "xy"), "pass [reference_lines], not reference_lines."),
        ((TWO, []), "no references given"),
        ((TWO, [["x"], ["y"]]), "the references look transposed"),
        ((TWO, [["x", "y"], ["x", "y"]]), "can be read both ways"),
        ((TWO, [["x", "y", "z"]]), "a reference set has 3 lines, but the system has 2."),
        ((TWO, {"A": ["x", None]}), "segment 2 has no reference at all"),
        (({"a": ["x"], "b": ["x", "y"]}, [["x"]]), "system 'b' has 2 segments, but the references"),
        ((TWO, {"A": ["x", "y"]}, "bleu"), "metrics are a list: pass ['bleu']."),
        ((TWO, {"A": ["x", "y"]}, []), "no metric given"),
        ((TWO, {"A": ["x", "y"]}, ["bleu", "BLEU"]), "metric bleu is given twice"),
        ((TWO, {"A": ["x", "y"]}, ["mean"]), "imported scores cannot be computed from text"),
    ],
)
def test_wrong_arguments_are_answered_with_the_right_ones(arguments, words):
    assert words in refusal(*arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sources": "xy"}, "the source is one string"),
        ({"sources": ["x"]}, "the source has 1 segments"),
        ({"documents": "xy"}, "the list of documents is one string"),
        ({"documents": ["x"]}, "the list of documents has 1 segments"),
        ({"seed": -1}, "seed -1: give a whole number of at least 0."),
        ({"by_document": True}, "document scores need document ids"),
        ({"test": "bootstrap"}, "a paired test compares systems"),
        ({"resamples": 0}, "at least 1"),
        ({"trials": 0}, "at least 1"),
        ({"level": 1}, "level 1: give a share between 0 and 1"),
    ],
)
def test_wrong_options_are_answered_with_the_right_ones(options, words):
    assert words in refusal(TWO, {"A": ["x", "y"]}, **options)


def test_named_sets_settle_what_could_be_read_both_ways():
    found = score(TWO, {"A": ["x", "y"], "B": ["y", "x"]}, ["chrf"]).records()
    assert found[0]["score"] == 100


def test_a_dataset_without_systems_is_refused():
    with pytest.raises(DataError, match="nothing to score"):
        score_dataset(Dataset({}, (("x",),)), [BLEU()])


def test_the_mean_of_segments_is_a_metric_like_any_other():
    statistics = Mean("comet").of([0.5, math.nan, 1.0])
    assert statistics.corpus() == 0.75


def dataset_of(systems, groups=()):
    lines = {f"s{number}": ("x",) * max(1, len(groups)) for number in range(systems)}
    return Dataset(lines, (("x",),) * max(1, len(groups)), groups=groups)


@pytest.mark.parametrize(("systems", "resamples"), [(2, 1000), (7, 1000), (8, 1120), (19, 6840)])
def test_there_are_resamples_enough_for_the_smallest_p_to_be_significant(systems, resamples):
    asked = ScoreOptions(test="bootstrap", all_pairs=True).filled(dataset_of(systems))
    assert asked.resamples == resamples
    pairs = len(all_pairs(systems))
    assert holm([1 / (resamples + 1)] * pairs)[0] < 0.05


def test_a_number_of_resamples_that_is_given_stands():
    asked = ScoreOptions(test="bootstrap", all_pairs=True, resamples=50, trials=70)
    asked = asked.filled(dataset_of(19))
    assert (asked.resamples, asked.trials) == (50, 70)
    many = ScoreOptions(all_pairs=True, test="randomisation").filled(dataset_of(30))
    assert (many.trials, many.correction) == (10_000, "step-down")


def test_many_groups_need_more_resamples():
    groups = (*(f"g{at // 20}" for at in range(20 * 40)), "small")
    asked = ScoreOptions(test="bootstrap", groups=True).filled(dataset_of(2, groups))
    assert asked.resamples == 40 * 2 / 0.05


def test_few_segments_are_compared_by_the_jackknife():
    systems = {name: lines[:60] for name, lines in SYSTEMS.items()}
    options = {"test": "bootstrap", "confidence": True, "resamples": 50}
    result = score(systems, [REFERENCE[:60]], ["bleu"], **options)
    note = result.tables()[1].note
    assert "95% jackknife interval, approximate with fewer than 100 segments. p: jack" in note
    asked = {"test": "bootstrap", "statistic": "sacrebleu", "resamples": 50}
    result = score(systems, [REFERENCE[:60]], ["bleu"], **asked)
    assert "sacreBLEU's statistic" in result.tables()[1].note


def test_small_and_large_groups_each_have_the_method_that_holds():
    groups = tuple("large" if at < 100 else "small" for at in range(120))
    options = ScoreOptions(groups=True, confidence=True, test="bootstrap", resamples=50)
    dataset = replace(DATASET, groups=groups)
    result = score_dataset(dataset, METRICS.parse_all(["bleu"]), options=options)
    tests = {each["group"]: each["test"] for each in result.records() if each["test"]}
    assert tests["large"].startswith("paired bootstrap")
    assert tests["small"].startswith("jackknife")
    assert (
        "With fewer than 100 segments: jackknife interval and test, approx"
        in result.tables()[-1].note
    )
