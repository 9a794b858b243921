"""The gate: limits are read strictly, decided as documented, and notice what they say."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest

import assay
from assay.data import Dataset
from assay.demo import read_demo, read_demo_suite
from assay.metrics.base import METRICS, Metric
from assay.reports.limits import read_limits
from assay.statistics.power import noticeable_count_rate, noticeable_loss, noticeable_new_rate

SIGNIFICANTLY = {"worse": "never significantly"}


@pytest.fixture(scope="module")
def data():
    return read_demo()


def outcome(data, name, rules, baseline="atlas", candidate="birch", **options):
    (found,) = assay.check(
        data, {name: rules}, baseline=baseline, candidate=candidate, **options
    ).outcomes
    return found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chrf = 55", r"limits.toml: no place for 'chrf'. Put it below \[limits\]."),
        ("[limit]\nchrf = {min = 5}", r"no place for 'limit' \(did you mean 'limits'\?\)"),
        ("limits = 3", "limits is a table"),
        ("[limits]\nchrf = 55", r"limits.toml, chrf: write rules in braces"),
        ("[limits]\nchrf = {}", "limits.toml, chrf: write rules in braces"),
        ("[limits]\nchrf = {minn = 3}", r"chrf: no rule 'minn' \(did you mean 'min'\?\). Rules: m"),
        ("[limits]\nchrf = {min = true}", "chrf: min is a number"),
        ("[limits]\nchrf = {min = nan}", "chrf: min is a number"),
        ("[limits]\n'fault:empty' = {max = inf}", "max is a number, as in max = 0; not inf"),
        (f"[limits]\nchrf = {{max = 1{'0' * 4000}}}", f"not 1{'0' * 39}."),
        ('[limits]\nchrf = {min = "55"}', "min is a number, as in min = 90; not '55'"),
        ('[limits]\nchrf = {worse = "seldom"}', 'worse is "never significantly" or "never"'),
        ('[limits]\n"fault:empty" = {max = 0.5}', "number of segments; 0.5 is none. A share is ma"),
        ('[limits]\n"fault:empty" = {max_rate = 5}', "max_rate is a share between 0 and 1"),
        ('[limits]\n"fault:empty" = {min = 5}', "no rule 'min'.*Rules: max, max_rate, worse"),
        ('[limits]\n"suite:A" = {min_accuracy = 900}', "min_accuracy is a percentage"),
        ('[limits]\n"slice:" = {worse = "never"}', "name one behind the colon, as in slice:NAME"),
        ("[limits]\n", "no limits. Write one as in"),
        ("[limits\n", "limits.toml is not TOML"),
        (f"a = {'9' * 5000}", "limits.toml is not TOML: Exceeds the limit"),
        ("a = " + "[" * 50_000, "limits.toml: its lists and tables are nested too deep"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(assay.DataError, match=message) as error:
        read_limits(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("blue", {"min": 3}, r"limits, blue: unknown metric 'blue' \(did you mean 'bleu'"),
        ("faults", {"min": 3}, "limits, faults: faults stands for several metrics"),
        ("slice:with a numbr", SIGNIFICANTLY, "did you mean 'with a number'"),
        ("slice:document counsil", SIGNIFICANTLY, "did you mean 'document council'"),
        ("fault:emty", {"max": 0}, r"no such fault \(did you mean 'empty'\?\)"),
        ("suite:Negation", SIGNIFICANTLY, "is about a test suite: pass suite="),
    ],
)
def test_what_is_not_there_is_an_error_with_a_suggestion(data, name, rules, message):
    with pytest.raises(assay.DataError, match=message):
        outcome(data, name, rules)


def test_limits_from_python_may_be_those_of_a_whole_file(data):
    limits = {"limits": {"bleu": {"min": 20}}}
    assert assay.check(data, limits, baseline="atlas", candidate="birch").passed


def test_baseline_and_candidate_are_the_first_and_the_second_of_two(data):
    two = replace(data, systems={name: data.systems[name] for name in ("cedar", "birch")})
    result = assay.check(two, {"bleu": {"min": 20}})
    assert (result.baseline, result.candidate) == ("cedar", "birch")
    turned = assay.check(two, {"bleu": {"min": 20}}, candidate="cedar")
    assert (turned.baseline, turned.candidate, turned.passed) == ("birch", "cedar", False)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, "name a baseline and a candidate: there are 3, atlas, birch, cedar"),
        ({"baseline": "atlas"}, "name a baseline and a candidate"),
        ({"baseline": "atlas", "candidate": "atlas"}, "the same system"),
        ({"baseline": "atlas", "candidate": "brich"}, r"candidate: no system 'brich' \(did you me"),
    ],
)
def test_two_systems_must_be_named(data, names, message):
    with pytest.raises(assay.DataError, match=message):
        assay.check(data, {"bleu": {"min": 20}}, **names)


def test_min_difference_holds_unless_the_interval_lies_wholly_below(data):
    found = outcome(data, "chrf", {"min_difference": -0.5})
    assert found.low < found.value - found.value_other < found.high
    barely = outcome(data, "chrf", {"min_difference": found.high - 0.01})
    too_much = outcome(data, "chrf", {"min_difference": found.high + 0.01})
    assert (barely.passed, too_much.passed) == (True, False)


def test_a_loss_is_a_loss_for_metrics_where_lower_is_better(data):
    """birch has a better TER than atlas; the other way round that is a loss."""
    assert outcome(data, "ter", SIGNIFICANTLY).passed
    assert outcome(data, "ter", {"min_difference": 5}).passed
    lost = {"baseline": "birch", "candidate": "atlas"}
    assert not outcome(data, "ter", SIGNIFICANTLY, **lost).passed
    assert not outcome(data, "ter", {"min_difference": -5}, **lost).passed
    assert outcome(data, "ter", {"min_difference": -40}, **lost).passed


def test_absolute_limits_look_at_the_candidate_alone(data):
    score = outcome(data, "bleu", {"min": 0}).value
    assert outcome(data, "bleu", {"min": score}).passed
    assert not outcome(data, "bleu", {"min": score + 0.01}).passed
    assert outcome(data, "bleu", {"max": score + 0.01}).passed
    assert not outcome(data, "bleu", {"max": score - 0.01}).passed


def test_faults_are_counted(data):
    found = outcome(data, "fault:numbers", {"max": 0})
    count = round(found.value / 100 * found.n)
    assert (found.passed, found.n, count) == (False, 120, 33)
    assert outcome(data, "fault:numbers", {"max": 33}).passed
    assert not outcome(data, "fault:numbers", {"max": 32}).passed
    assert outcome(data, "fault:numbers", {"max_rate": 33 / 120}).passed
    assert not outcome(data, "fault:numbers", {"max_rate": 32 / 120}).passed
    assert not outcome(data, "fault:numbers", SIGNIFICANTLY).passed
    assert outcome(data, "fault:numbers", SIGNIFICANTLY, "birch", "atlas").passed


def test_a_fault_that_cannot_be_told_needs_a_source(data):
    bare = replace(data, sources=())
    with pytest.raises(assay.MissingInput, match="fault:copied"):
        outcome(bare, "fault:copied", {"max": 0})


def test_slices_are_those_of_compare_by_their_names(data):
    labels = {"half": ("first",) * 60 + ("second",) * 60}
    for name in ("with a number", "segments with a number", "text:with a number", "half first"):
        found = outcome(data, f"slice:{name}", SIGNIFICANTLY, labels=labels)
        assert found.metric == "chrF2"
    compared = assay.compare(
        replace(data, systems={name: data.systems[name] for name in ("atlas", "birch")}),
        ["chrf"],
        features=(),
        labels=labels,
    )
    (finding,) = [each for each in compared.findings if each.slice == "half first"]
    assert (found.n, found.value, found.value_other) == (60, finding.value, finding.value_other)
    assert (found.p, found.low, found.high) == (finding.p, finding.low, finding.high)


def test_slices_of_segments_are_scored_by_the_first_metric(data):
    limits = {"fault:empty": {"max": 0}, "ter": {"max": 90}, "slice:with a number": SIGNIFICANTLY}
    result = assay.check(data, limits, baseline="atlas", candidate="birch")
    assert [found.metric for found in result.outcomes] == ["segments", "TER", "TER"]


def test_suites_by_category_and_by_phenomenon(data):
    suite, runs = read_demo_suite()
    spring = assay.run_suite(suite, [run for run in runs if run.campaign == "spring"])
    two = replace(data, systems={name: data.systems[name] for name in ("atlas", "birch")})
    found = outcome(two, "suite:Negation", {"min_accuracy": 90}, suite=spring)
    assert (found.passed, found.seen) == (False, "5 of 6 items (83.3 %)")
    assert found.noticeable < 90
    assert outcome(two, "suite:Negation", {"min_accuracy": 83}, suite=spring).passed
    for name in ("Ambiguity: Lexical ambiguity", "Lexical ambiguity"):
        assert outcome(two, f"suite:{name}", SIGNIFICANTLY, suite=spring).metric == "accuracy"
    with pytest.raises(assay.DataError, match="did you mean 'Negation'"):
        outcome(two, "suite:Negatoin", SIGNIFICANTLY, suite=spring)


def test_p_is_adjusted_over_all_limits_that_ask_for_significance(data):
    limits = {"chrf": SIGNIFICANTLY, "slice:with a name": SIGNIFICANTLY, "bleu": {"min": 1}}
    found = assay.check(data, limits, baseline="atlas", candidate="birch").outcomes
    first, second, third = found
    assert math.isnan(third.p_adjusted)
    small, large = sorted((first, second), key=lambda each: each.p)
    assert small.p_adjusted == pytest.approx(min(1, 2 * small.p))
    assert large.p_adjusted == pytest.approx(max(large.p, small.p_adjusted))


def test_equal_systems_keep_every_relative_limit_and_their_power_is_unknown(data):
    same = replace(data, systems={"a": data.systems["atlas"], "b": data.systems["atlas"]})
    limits = {"chrf": {"min_difference": -0.1, **SIGNIFICANTLY}, "slice:with a name": SIGNIFICANTLY}
    result = assay.check(same, limits)
    assert result.passed
    assert all(math.isnan(found.noticeable) for found in result.outcomes)
    assert {found.notices for found in result.outcomes} == {"unknown: no segment differs"}
    assert [record["noticeable"] for record in result.records()] == [None] * 3


def test_a_gate_that_cannot_fail_says_so(data):
    few = Dataset(
        {name: data.systems[name][:4] for name in ("atlas", "birch")}, data.references[:4]
    )
    result = assay.check(few, {"chrf": SIGNIFICANTLY, "fault:empty": {"max": 4}})
    assert not any(found.can_fail for found in result.outcomes)
    assert "too small for any regression to break chrf (never sign" in result.summary()[1]
    assert "nothing, with 4 segments" in str(result)


def test_records_say_everything(data):
    limits = {"bleu": {"min": 20, **SIGNIFICANTLY}, "fault:empty": {"max": 0}}
    result = assay.check(data, limits, baseline="atlas", candidate="birch")
    keys = {frozenset(record) for record in result.records()}
    assert len(keys) == 1
    record = result.records()[0]
    assert (record["limit"], record["rule"], record["wanted"]) == ("bleu", "min", 20)
    assert (record["system"], record["other"], record["passed"]) == ("birch", "atlas", True)
    assert record["low"] < record["value"] < record["high"]


def test_junit_is_xml_with_one_case_per_rule_whatever_the_names(data):
    odd = "<b>&\x00\x1b]'\"\ud800"
    named = replace(data, systems={"atlas": data.systems["atlas"], odd: data.systems["birch"]})
    limits = {"bleu": {"min": 20}, "fault:numbers": {"max": 0, "max_rate": 0.5}}
    root = ElementTree.fromstring(assay.check(named, limits).junit().encode("utf-8"))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert "<b>&" in suite.get("name")
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases) == 3
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == 1
    failure = cases[1].find("failure")
    assert failure.get("message") == "33 of 120 segments (27.5 %)"
    assert cases[1].get("name") == "fault:numbers: at most 0 segments"
    assert len({case.get("name") for case in cases}) == 3


# Power: test sets are drawn from a population in which the candidate is worse by what the gate
# says that it notices; it should break in 80 % of them.


@dataclass(frozen=True)
class Told(Metric):
    """The mean of numbers that stand in the outputs."""

    name: ClassVar[str] = "told"
    scale: ClassVar[str] = "any"

    def rows(self, segments):
        return np.array([[float(segment.hypothesis), 1.0] for segment in segments])

    def aggregate(self, sums):
        return sums[:, 0] / np.maximum(1, sums[:, 1])


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(METRICS, "_registered", dict(getattr(METRICS, "_registered", {})))
    assay.register(Told)


DRAWS, SEGMENTS = 300, 80


def drawn(rng, loss, shift=0.0):
    """A test set: scores of two systems that have much in common, the second one being worse."""
    common = rng.gamma(2.0, 5.0, SEGMENTS) + shift
    noise = rng.standard_t(6, (2, SEGMENTS)) * 2
    outputs = (common + noise[0], common + noise[1] - loss)
    lines = [tuple(map(repr, map(float, values))) for values in outputs]
    return Dataset({"old": lines[0], "new": lines[1]}, (("x",),) * SEGMENTS)


def share_broken(limits, loss, shift=0.0):
    rng = np.random.default_rng(7)
    results = [assay.check(drawn(rng, loss, shift), limits) for _ in range(DRAWS)]
    return np.mean([not result.outcomes[0].passed for result in results])


def typical(limits):
    """What the gate says that it notices, on average over test sets without any loss."""
    rng = np.random.default_rng(8)
    found = [assay.check(drawn(rng, 0.0), limits).outcomes[0].noticeable for _ in range(60)]
    return float(np.mean(found))


@pytest.mark.parametrize("rules", [SIGNIFICANTLY, {"min_difference": -0.3}, {"worse": "never"}])
def test_the_loss_that_is_said_to_be_noticed_is_noticed_in_80_percent(told, rules):
    limits = {"told": rules}
    loss = typical(limits)
    assert 0.72 < share_broken(limits, loss) < 0.88
    assert share_broken(limits, loss / 2) < 0.65


def test_power_takes_the_adjustment_over_several_limits_into_account(told):
    limits = {"told": SIGNIFICANTLY} | {
        f"fault:{kind}": SIGNIFICANTLY for kind in ("empty", "loop", "doubled", "characters")
    }
    alone, beside = typical({"told": SIGNIFICANTLY}), typical(limits)
    assert beside > 1.1 * alone
    assert 0.72 < share_broken(limits, beside) < 0.9


def test_without_a_loss_false_alarms_are_rare(told):
    assert share_broken({"told": SIGNIFICANTLY}, 0.0) < 0.06


def test_the_score_that_is_said_to_be_noticed_is_noticed_in_80_percent(told):
    """The population's mean is 10: the limit lies above it by as much as the gate says."""
    rng = np.random.default_rng(8)
    reached = np.mean(
        [
            assay.check(drawn(rng, 0.0), {"told": {"min": 10}}).outcomes[0].noticeable
            for _ in range(60)
        ]
    )
    assert 0.72 < share_broken({"told": {"min": 10}}, 0.0, shift=reached - 10) < 0.88


def test_the_rate_that_is_said_to_be_noticed_is_noticed_in_80_percent():
    rng = np.random.default_rng(9)
    for most, count in ((0, 120), (1, 120), (10, 500)):
        rate = noticeable_count_rate(most, count)
        assert np.mean(rng.binomial(count, rate, 20_000) > most) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("background", [0, 5])
def test_new_faults_that_are_said_to_be_noticed_are_noticed_in_80_percent(background):
    """Segments are made empty at random, on top of some that are empty in one system only."""
    rng, count = np.random.default_rng(10), 100
    rate = noticeable_new_rate(count, background, alpha=0.05)
    broken = []
    for _ in range(200):
        old, new = ["some words"] * count, ["some words"] * count
        for at in range(background):
            old[at] = new[-1 - at] = ""
        free = np.arange(background, count - background)
        hit = free[rng.random(len(free)) < rate * count / len(free)]
        for at in hit:
            new[at] = ""
        texts = Dataset({"old": tuple(old), "new": tuple(new)}, (("some words",),) * count)
        broken.append(not assay.check(texts, {"fault:empty": SIGNIFICANTLY}).passed)
    assert 0.7 < np.mean(broken) < 0.9


def test_more_segments_notice_less():
    losses = [noticeable_loss(10 / math.sqrt(n), n, alpha=0.05) for n in (6, 20, 100, 1000, 10_000)]
    assert losses == sorted(losses, reverse=True)
    assert math.isinf(noticeable_loss(1.0, 5, alpha=0.05))
