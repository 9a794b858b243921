"""Outputs are found by what they are, who has them, who judged them and what stands in them."""

import pytest

from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store import filters as store_filters
from assay.suites.store.decisions import save_decision
from assay.suites.store.filters import choices
from assay.suites.store.finding import find
from assay.suites.store.records import Filters
from assay.suites.store.runs import save_run
from tests.suites.store.samples import fill, item, number

ANN, BEN = 1, 2


def say(store, who, text, choice="pass"):
    with store.write() as conn:
        save_decision(conn, number(store, text), who, choice, seen=0)


def test_outputs_are_found_in_the_order_of_items(three):
    with three.read() as conn:
        found, total = find(conn, Filters())
        assert total == 5
        assert [(each.id, output.text) for each, output in found] == [
            ("a", "so a"),
            ("a", "hm a"),
            ("b", "good b"),
            ("b", "bad b"),
            ("c", "so c"),
        ]
        assert find(conn, Filters(), offset=1, limit=2) == (found[1:3], 5)
        assert find(conn, Filters(), offset=9) == ([], 5)


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (Filters(verdict="warning"), ["so a", "hm a", "so c"]),
        (Filters(verdict="pass"), ["good b"]),
        (Filters(verdict="not tested"), []),
        (Filters(verdict="disputed"), []),
        (Filters(system="x"), ["so a", "good b", "so c"]),
        (Filters(system="y", verdict="fail"), ["bad b"]),
        (Filters(text="GOOD"), ["good b"]),
        (Filters(text="Quelle B"), ["good b", "bad b"]),
        (Filters(text="_"), []),
        (Filters(text="x" * 100_000), []),
        (Filters(text="a\0b"), []),
    ],
)
def test_filters_find_what_they_say(three, filters, wanted):
    with three.read() as conn:
        found, total = find(conn, filters)
    assert [output.text for _, output in found] == wanted
    assert total == len(wanted)


def test_a_text_of_many_sources_is_found_as_one_of_few(three, monkeypatch):
    with three.read() as conn:
        few = find(conn, Filters(text="Quelle"))
        monkeypatch.setattr(store_filters, "MANY", 2)
        assert find(conn, Filters(text="Quelle")) == few
        assert find(conn, Filters(text="Quelle B")) == find(conn, Filters(phenomenon="Q"))
    assert few[1] == 5


def test_letters_are_found_in_upper_and_lower_case(store):
    fill(store, [item(source="Über Äpfel")], {"x": {"i1": "École à Çeşme"}})
    with store.read() as conn:
        for text in ("über", "ÄPFEL", "école", "À ÇE"):
            assert find(conn, Filters(text=text))[1] == 1, text
        assert find(conn, Filters(text="uber"))[1] == 0


def test_outputs_are_found_by_the_person_who_judged_them(three):
    say(three, ANN, "so a")
    say(three, BEN, "so c", "skip")
    with three.read() as conn:
        assert [output.text for _, output in find(conn, Filters(person="Ann"))[0]] == ["so a"]
        assert find(conn, Filters(person="Ben", verdict="warning"))[1] == 1


def test_there_is_to_choose_from_what_there_is(three):
    with three.write() as conn:
        save_run(conn, Run("x", {}, "wmt22"), Checker())
    with three.read() as conn:
        found = choices(conn)
    assert found.categories == ("C", "D")
    assert found.phenomena == {"C": ("P",), "D": ("Q", "P")}
    assert (found.systems, found.campaigns) == (("x", "y"), ("wmt22",))
    assert found.people == ("Ann", "Ben", "Cem")
