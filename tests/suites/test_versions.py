"""Systems over campaigns: gains, flips and the best of each, against slow loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from assay.data import DataError
from assay.suites.accuracy import accuracies
from assay.suites.check import FAIL, PASS, Verdicts
from assay.suites.versions import Version, compare_versions
from tests.suites.matrices import random_verdicts, verdicts

GROUPS = ["M/x", "M/x", "M/y", "N/z", "N/z"]
OLD = verdicts({"a": "pfppf", "b": "fffpf"}, GROUPS)
NEW = verdicts({"b": "pffpp", "c": "ppppp", "a": "ppfpf"}, GROUPS)
NEW = replace(NEW, outputs=[[f"new {text}" for text in row] for row in NEW.outputs])


def cut(given, places):
    """Some of the items, in another order."""
    return Verdicts(
        systems=given.systems,
        items=tuple(given.items[at] for at in places),
        codes=given.codes[:, places],
        by=[[row[at] for at in places] for row in given.by],
        outputs=[[row[at] for at in places] for row in given.outputs],
    )


def step_of(result, system):
    (step,) = [each for each in result.steps if each.before.system == system]
    return step


def gain_of(step, level, name=""):
    return next(each for each in step.gains if each.level == level and name in (each.name, ""))


def test_a_system_gains_and_loses_by_rows():
    result = compare_versions({"wmt19": OLD, "wmt20": NEW})
    step = step_of(result, "a")
    assert (step.before, step.after) == (Version("wmt19", "a"), Version("wmt20", "a"))
    micro = gain_of(step, "micro")
    assert (micro.items, micro.before, micro.after, micro.gain) == (5, 60.0, 60.0, 0.0)
    assert (micro.gained, micro.lost, micro.p) == (1, 1, 1.0)
    x, y = gain_of(step, "phenomenon", "x"), gain_of(step, "phenomenon", "y")
    assert (x.before, x.after, x.gain, x.category) == (50.0, 100.0, 50.0, "M")
    assert (y.before, y.after, y.gain) == (100.0, 0.0, -100.0)
    macro = gain_of(step, "phenomenon macro")
    assert macro.gain == pytest.approx((50 - 100 + 0) / 3)
    assert macro.name == "phenomenon macro-average"


def test_what_flipped_comes_with_both_outputs():
    result = compare_versions({"wmt19": OLD, "wmt20": NEW})
    first, second = step_of(result, "a").flips
    assert (first.item.id, first.gained) == ("i1", True)
    assert (second.item.id, second.gained) == ("i2", False)
    assert (first.before, first.after) == ("a 1", "new a 1")
    assert [flip.item.id for flip in step_of(result, "b").flips] == ["i0", "i4"]


def test_only_systems_of_two_campaigns_have_steps():
    result = compare_versions({"wmt19": OLD, "wmt20": NEW})
    assert [step.before.system for step in result.steps] == ["a", "b"]


def test_only_common_items_are_compared_whatever_their_order():
    whole = compare_versions({"x": cut(OLD, [0, 1, 4]), "y": cut(NEW, [0, 1, 4])})
    mixed = compare_versions({"x": cut(OLD, [4, 1, 3, 0]), "y": cut(NEW, [0, 1, 2, 4])})
    assert [item.id for item in mixed.items] == ["i0", "i1", "i4"]
    assert mixed.steps == whole.steps
    # As text: an unknown p is not equal to itself.
    assert repr(mixed.every.rows) == repr(whole.every.rows)


def test_fair_drops_what_any_system_of_any_campaign_has_not_decided():
    warned = verdicts({"a": "pfppw", "b": "fffpf"}, GROUPS)
    result = compare_versions({"x": warned, "y": NEW})
    assert result.every.counted.items == (4,) * 5
    assert gain_of(step_of(result, "b"), "micro").items == 4
    each = compare_versions({"x": warned, "y": NEW}, policy="each")
    assert gain_of(step_of(each, "a"), "micro").items == 4
    assert gain_of(step_of(each, "b"), "micro").items == 5


def test_the_best_of_each_campaign_is_by_the_average_that_is_asked_for():
    old = verdicts({"a": "pppff", "b": "ffppp"}, ["M/x", "M/x", "M/x", "M/x", "N/y"])
    new = verdicts({"a": "ppppf", "c": "pffff"}, ["M/x", "M/x", "M/x", "M/x", "N/y"])
    by_macro = compare_versions({"x": old, "y": new})
    assert by_macro.best_versions == (Version("x", "b"), Version("y", "a"))
    assert by_macro.best.systems == ("b (x)", "a (y)")
    assert by_macro.best.row("micro").accuracy == (60.0, 80.0)
    assert by_macro.best.row("category macro").accuracy == (75.0, 50.0)
    by_micro = compare_versions({"x": old, "y": new}, best_by="micro")
    assert by_micro.best_versions == (Version("x", "a"), Version("y", "a"))
    (step,) = by_macro.best_steps
    assert (step.before, step.after) == by_macro.best_versions
    assert gain_of(step, "category macro").gain == -25.0


def test_the_best_are_clustered_among_themselves_on_the_items_that_count_for_all():
    rng = np.random.default_rng(1)
    campaigns = {f"c{at}": random_verdicts(rng, items=200, categories=1) for at in range(3)}
    for each in campaigns.values():
        object.__setattr__(each, "items", campaigns["c0"].items)
    result = compare_versions(campaigns, test="midp", best_by="micro")
    assert len(result.best_versions) == 3
    for campaign, best in zip(campaigns, result.best_versions, strict=True):
        own = {
            version.system: value
            for version, value in zip(
                result.versions, result.every.row("micro").accuracy, strict=True
            )
            if version.campaign == campaign
        }
        assert best.campaign == campaign
        assert own[best.system] == max(own.values())
    assert result.best.counted.items == (result.every.counted.items[0],) * 3


def test_three_campaigns_step_from_each_to_the_next_that_the_system_took_part_in():
    middle = verdicts({"a": "ppppp"}, GROUPS)
    result = compare_versions({"x": OLD, "y": middle, "z": NEW})
    steps = [
        (each.before.system, each.before.campaign, each.after.campaign) for each in result.steps
    ]
    assert steps == [("a", "x", "y"), ("a", "y", "z"), ("b", "x", "z")]
    assert [len(each.flips) for each in result.best_steps] == [2, 0]


@pytest.mark.parametrize("policy", ["fair", "each", "fail"])
def test_every_gain_is_that_of_a_slow_loop_and_of_statsmodels(policy):
    rng = np.random.default_rng(2)
    old = random_verdicts(rng, items=300, letters="pppffw")
    new = random_verdicts(rng, items=300, letters="ppppffw")
    new = Verdicts(new.systems, old.items, new.codes, new.by, new.outputs)
    result = compare_versions({"x": old, "y": new}, policy=policy, test="mcnemar")
    values = result.every.counted.values
    for at, step in enumerate(result.steps):
        before, after = values[at], values[at + len(old.systems)]
        for gain in [each for each in step.gains if "macro" not in each.level]:
            inside = [
                (a, b)
                for item, a, b in zip(old.items, before, after, strict=True)
                if not math.isnan(a + b)
                and gain.category in (item.category, "")
                and (gain.level != "phenomenon" or item.phenomenon == gain.name)
            ]
            gained, lost = inside.count((0, 1)), inside.count((1, 0))
            assert (gain.items, gain.gained, gain.lost) == (len(inside), gained, lost)
            if inside:
                assert gain.gain == pytest.approx(100 * (gained - lost) / len(inside))
                assert gain.after - gain.before == pytest.approx(gain.gain)
                assert gain.before == pytest.approx(100 * np.mean([a for a, _ in inside]))
                expected = statsmodels_mcnemar([[0, lost], [gained, 0]]).pvalue
                assert gain.p == pytest.approx(1.0 if gained == lost else expected)


def test_gains_of_averages_are_differences_of_the_accuracies_under_fair():
    rng = np.random.default_rng(3)
    old, new = random_verdicts(rng, items=300), random_verdicts(rng, items=300)
    new = Verdicts(new.systems, old.items, new.codes, new.by, new.outputs)
    result = compare_versions({"x": old, "y": new})
    count = len(old.systems)
    for at, step in enumerate(result.steps):
        for gain, row in zip(step.gains, result.every.rows, strict=True):
            assert (gain.level, gain.name, gain.category) == (row.level, row.name, row.category)
            assert gain.before == pytest.approx(row.accuracy[at], nan_ok=True)
            assert gain.after == pytest.approx(row.accuracy[at + count], nan_ok=True)


def test_correction_is_over_the_rows_of_a_level():
    old = verdicts({"a": "f" * 8 + "fffff"}, ["M/x"] * 8 + ["N/y"] * 5)
    new = verdicts({"a": "p" * 8 + "fffpp"}, ["M/x"] * 8 + ["N/y"] * 5)
    (step,) = compare_versions({"x": old, "y": new}, test="mcnemar", correct="holm").steps
    m, n = gain_of(step, "category", "M"), gain_of(step, "category", "N")
    assert m.p == pytest.approx(2 / 256)
    assert m.p_corrected == pytest.approx(2 * m.p)
    assert n.p_corrected == n.p == 0.5
    assert gain_of(step, "micro").p_corrected == gain_of(step, "micro").p


def test_rows_without_counted_items_are_unknown():
    old = verdicts({"a": "ppppw"}, [*GROUPS[:4], "N/w"])
    (step,) = compare_versions({"x": old, "y": old}).steps
    row = gain_of(step, "phenomenon", "w")
    assert row.items == 0
    assert all(map(math.isnan, (row.before, row.after, row.gain, row.p, row.p_corrected)))
    assert gain_of(step, "phenomenon macro").gain == 0


def test_a_campaign_against_itself_gains_nothing():
    given = random_verdicts(np.random.default_rng(4))
    result = compare_versions({"x": given, "y": given})
    for step in result.steps:
        assert step.flips == ()
        assert {gain.p for gain in step.gains if gain.items} == {1.0}
    assert result.every.row("micro").accuracy[:4] == accuracies(given).row("micro").accuracy


def test_the_verdicts_that_were_given_are_left_as_they_were():
    before = NEW.codes.copy()
    compare_versions({"x": OLD, "y": NEW})
    assert (NEW.codes == before).all()
    assert set(np.unique(before)) == {FAIL, PASS}


def test_one_campaign_and_campaigns_without_common_items_are_refused():
    with pytest.raises(DataError, match="one campaign"):
        compare_versions({"x": OLD})
    with pytest.raises(DataError, match="x, y: no item is common to all of these campaigns"):
        compare_versions({"x": cut(OLD, [0, 1]), "y": cut(NEW, [2, 3])})
