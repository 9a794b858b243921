"""How many outputs each choice of a filter would leave."""

from dataclasses import replace

import pytest

from assay.suites.store.counts import counts
from assay.suites.store.decisions import save_decision
from assay.suites.store.finding import find
from assay.suites.store.notes import add_note
from assay.suites.store.records import Filters
from tests.suites.store.samples import fill, item, number


@pytest.fixture
def judged(husbands):
    """Two campaigns, three decisions, a dispute and two notes."""
    fill(
        husbands,
        [item(name, ["husband"], ["man"]) for name in "ab"],
        {"x": {"a": "her hubby", "b": "so"}},
        campaign="late",
        people=(),
    )
    with husbands.write() as conn:
        save_decision(conn, number(husbands, "her hubby"), 1, "pass", seen=0)
        save_decision(conn, number(husbands, "a spouse"), 1, "pass", seen=0)
        save_decision(conn, number(husbands, "a spouse"), 2, "fail", seen=1)
        add_note(conn, 1, output=number(husbands, "a bird"), flag="unsure")
        add_note(conn, 1, item="b", flag="bad item", text="no")
    return husbands


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(category="C"),
        Filters(phenomenon="P", verdict="warning"),
        Filters(system="x"),
        Filters(campaign="late", verdict="pass"),
        Filters(text="hubby"),
        Filters(person="ANN"),
        Filters(person="Ann", flag="bad item"),
        Filters(flag="any"),
        Filters(verdict="disputed"),
    ],
    ids=str,
)
def test_each_count_is_what_choosing_it_finds(judged, filters):
    with judged.read() as conn:
        counted = counts(conn, filters)
        asked = {
            "category": counted.categories,
            "system": counted.systems,
            "campaign": counted.campaigns,
            "verdict": counted.verdicts,
            "person": counted.people,
            "flag": counted.flags,
            "phenomenon": {name: count for (_, name), count in counted.phenomena.items()},
        }
        for name, numbers in asked.items():
            for value in {*numbers, *_all(name)}:
                if name != "campaign" or value:
                    found = find(conn, replace(filters, **{name: value}))[1]
                    assert found == numbers.get(value, 0) or _shared(counted, name, value, found)


def _all(name):
    every = {"category": ["C", "D"], "system": ["x", "y", "z"], "flag": ["any"]}
    return every.get(name, [])


def _shared(counted, name, value, found):
    """A phenomenon of two categories has a count in each."""
    numbers = [count for (_, own), count in counted.phenomena.items() if own == value]
    return name == "phenomenon" and sum(numbers) == found


def test_most_systems_come_first(judged):
    with judged.read() as conn:
        found, _ = find(conn, Filters(sort="systems"))
    sizes = [len(output.systems) for _, output in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 2
