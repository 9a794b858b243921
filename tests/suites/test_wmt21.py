"""The 18 systems of WMT21 on the public German-English suite, against the slow way throughout."""

import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from assay.suites.accuracy import accuracies
from assay.suites.check import check, verdict_named
from assay.suites.files import read_suite
from assay.suites.model import Run
from tests.corpora import read_lines


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "testsuite" / "de-en"


@pytest.fixture(scope="module")
def outputs(folder):
    """By system, then by item."""
    ids = read_lines(folder / "wmt21" / "item_ids.txt")
    paths = sorted((folder / "wmt21" / "systems").glob("*.txt"))
    return {path.stem: dict(zip(ids, read_lines(path), strict=True)) for path in paths}


@pytest.fixture(scope="module")
def items(folder, outputs):
    """The items as they are published, those that were translated."""
    every = json.loads((folder / "items.json").read_text("utf-8"))["items"]
    wanted = set().union(*outputs.values())
    return [item for item in every if item["id"] in wanted]


@pytest.fixture(scope="module")
def slow(items, outputs):
    """The verdicts by system and item, as the procedure says, with Python's own `re`."""
    return {
        system: {item["id"]: slow_verdict(item, texts[item["id"]]) for item in items}
        for system, texts in outputs.items()
    }


def slow_verdict(item, output):
    if not output.strip():
        return "not tested"
    signs = ("positive", "negative")
    yes, no = (found_regex(item[f"{sign}_regex"], output) for sign in signs)
    if not yes and not no:
        yes, no = (found_token(item[f"{sign}_tokens"], output) for sign in signs)
    return {(True, False): "pass", (False, True): "fail"}.get((yes, no), "warning")


def found_regex(regex, output):
    return bool(regex) and re.search(regex, output) is not None


def found_token(tokens, output):
    return any(token.strip() in output for token in tokens if token.strip())


@pytest.fixture(scope="module")
def verdicts(folder, outputs):
    suite = read_suite(folder / "items.json")
    return check(suite, [Run(system, texts) for system, texts in outputs.items()]).verdicts


@pytest.fixture(scope="module")
def result(verdicts):
    return accuracies(verdicts, test="z", correct="none")


def test_the_data_are_18_systems_on_2748_items_of_106_phenomena(verdicts):
    assert verdicts.codes.shape == (18, 2748)
    assert len({item.phenomenon for item in verdicts.items}) == 106
    assert len({item.category for item in verdicts.items}) == 14


def test_every_verdict_is_that_of_the_slow_procedure(verdicts, slow):
    for system, row in zip(verdicts.systems, verdicts.codes, strict=True):
        ids = [item.id for item in verdicts.items]
        assert dict(zip(ids, map(verdict_named, row), strict=True)) == slow[system]


def test_verdict_counts_per_system_are_those_of_the_slow_procedure(verdicts, slow):
    for system, row in zip(verdicts.systems, verdicts.codes, strict=True):
        counts = Counter(slow[system].values())
        assert Counter(map(verdict_named, row)) == counts
        assert counts["pass"] > 1500


@pytest.fixture(scope="module")
def tables(items, slow):
    """Passed and all items by system and group, of the items that all systems have decided."""
    fair = [
        item
        for item in items
        if all(verdicts[item["id"]] in ("pass", "fail") for verdicts in slow.values())
    ]
    groups = {}
    for item in fair:
        for name in (
            ("category", item["category"]),
            ("phenomenon", item["phenomenon"]),
            ("micro", ""),
        ):
            groups.setdefault(name, []).append(item["id"])
    return {
        name: {
            system: (sum(slow[system][each] == "pass" for each in ids), len(ids)) for system in slow
        }
        for name, ids in groups.items()
    }


def test_1879_items_count_for_all(result, tables):
    assert result.counted.items == (1879,) * 18
    assert tables["micro", ""]["UEdin"][1] == 1879


def test_rows_and_micro_average_are_those_of_a_slow_loop(result, tables):
    rows = [*result.at("category", "phenomenon", "micro")]
    assert len(rows) == 14 + 106 + 1
    empty = []
    for row in rows:
        counts = tables.get((row.level, "" if row.level == "micro" else row.name))
        if counts is None:
            assert row.items == (0,) * 18
            empty.append(row.name)
            continue
        for at, system in enumerate(result.systems):
            passed, count = counts[system]
            low, high = proportion_confint(passed, count, method="wilson")
            assert (row.passed[at], row.items[at]) == (passed, count)
            assert row.accuracy[at] == pytest.approx(100 * passed / count)
            assert (row.low[at], row.high[at]) == pytest.approx((100 * low, 100 * high))
    assert len(empty) == 1


@pytest.mark.parametrize("kind", ["category", "phenomenon"])
def test_macro_averages_are_those_of_a_slow_loop(result, tables, kind):
    groups = [counts for (level, _), counts in tables.items() if level == kind]
    row = result.row(f"{kind} macro")
    assert row.groups == len(groups) == {"category": 14, "phenomenon": 105}[kind]
    for at, system in enumerate(result.systems):
        shares = [passed / count for passed, count in (counts[system] for counts in groups)]
        assert row.accuracy[at] == pytest.approx(100 * sum(shares) / len(shares))


def slow_cluster(counts):
    """The systems that statsmodels does not find worse than the best, one-tailed at 0.95."""
    best = max(passed for passed, _ in counts.values())
    first = set()
    for system, (passed, count) in counts.items():
        p = 0.5
        if passed < best:
            p = proportions_ztest([best, passed], [count, count], alternative="larger")[1]
        if p >= 0.05:
            first.add(system)
    return first


def test_first_clusters_are_those_of_statsmodels(result, tables):
    sizes = Counter()
    for (level, name), counts in tables.items():
        row = result.row(level, name)
        first = {name for name, own in zip(result.systems, row.first_cluster, strict=True) if own}
        assert first == slow_cluster(counts), name
        sizes[len(first) == 18] += 1
    assert sizes[False] > 10


def test_the_first_cluster_of_the_micro_average(result):
    row = result.row("micro")
    first = {
        name: round(value, 1)
        for name, value, own in zip(result.systems, row.accuracy, row.first_cluster, strict=True)
        if own
    }
    assert first == {
        "Borderline": 88.7,
        "Facebook-AI": 88.3,
        "Online-A": 87.6,
        "Online-W": 88.3,
        "SMU": 88.1,
        "UEdin": 88.2,
    }


def test_the_category_macro_cluster_is_that_of_a_slow_z_test(result, tables):
    groups = [counts for (level, _), counts in tables.items() if level == "category"]
    row = result.row("category macro")
    best = result.systems[int(np.argmax(row.accuracy))]
    for system, value, p, first in zip(
        result.systems, row.accuracy, row.p, row.first_cluster, strict=True
    ):
        top = below = 0.0
        for counts in groups:
            (a, n), (b, _) = counts[best], counts[system]
            pooled = (a + b) / (2 * n)
            top += (a - b) / n
            below += pooled * (1 - pooled) * 2 / n
        if system == best:
            assert math.isnan(p)
            assert first
        else:
            assert p == pytest.approx(math.erfc(top / math.sqrt(2 * below)) / 2)
            assert first == (p >= 0.05)
            assert value < max(row.accuracy)


@pytest.mark.parametrize("policy", ["each", "fail", "pass"])
def test_other_policies_count_more_items(verdicts, slow, policy):
    row = accuracies(verdicts, policy=policy).row("micro")
    for at, system in enumerate(verdicts.systems):
        counts = Counter(slow[system].values())
        warned = counts["warning"] * (policy != "each")
        assert row.items[at] == counts["pass"] + counts["fail"] + warned
        assert row.passed[at] == counts["pass"] + counts["warning"] * (policy == "pass")
