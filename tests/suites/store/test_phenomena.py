"""Definitions of phenomena."""

import pytest

from assay.data import DataError
from assay.suites.files import read_suite, write_suite
from assay.suites.model import Suite
from assay.suites.store.decisions import undo
from assay.suites.store.phenomena import all_phenomena, define, phenomenon_named
from assay.suites.store.suites import load_suite, save_suite

ANN, BEN, CEM = 1, 2, 3


def told(store):
    with store.read() as conn:
        return {(one.category, one.name): one.definition for one in all_phenomena(conn)}


def test_a_definition_is_kept_changed_and_taken_back(three):
    with three.write() as conn:
        define(conn, BEN, "C", "P", definition=" first ", examples="a\r\nb\n")
        second = define(conn, BEN, "C", "P", definition="second")
        with pytest.raises(DataError, match="Nothing has changed"):
            define(conn, BEN, "C", "P", definition="second")
        with pytest.raises(DataError, match="author or a lead"):
            undo(conn, CEM, second.id)
        undo(conn, ANN, second.id)
        assert phenomenon_named(conn, "C", "P").examples == ("a", "b")
        undo(conn, BEN)
    assert told(three) == {("C", "P"): "", ("D", "Q"): "", ("D", "P"): ""}
    with pytest.raises(DataError, match="no item is of"), three.write() as conn:
        define(conn, ANN, "C", "Z", definition="x")


@pytest.mark.parametrize("ending", ["json", "jsonl", "tsv"])
def test_definitions_travel_with_the_suite(three, tmp_path, ending):
    with three.write() as conn:
        define(conn, ANN, "D", "Q", definition="what it is", examples="so\nand so")
        suite = load_suite(conn)
    write_suite(tmp_path / f"suite.{ending}", suite)
    again = read_suite(tmp_path / f"suite.{ending}")
    assert again.extra["phenomena"] == [
        {
            "category": "D",
            "phenomenon": "Q",
            "definition": "what it is",
            "examples": ["so", "and so"],
        }
    ]
    with three.write() as conn:
        save_suite(conn, Suite(suite.items))
    assert told(three)["D", "Q"] == "what it is"
