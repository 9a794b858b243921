"""Outputs come to their items, whatever the order, or it is said why not."""

import re

import pytest

from assay.data import DataError
from assay.suites.files import read_runs, read_suite
from assay.suites.model import Item, Suite

SUITE = Suite(tuple(Item(name, "deen", "A", "B", "C") for name in ("001", "002", "003")))


@pytest.fixture
def save(tmp_path):
    """Write a file and get its path."""

    def write(name, text):
        (tmp_path / name).write_text(text, "utf-8", newline="")
        return tmp_path / name

    return write


def refused(*paths, **options):
    with pytest.raises(DataError) as error:
        read_runs(SUITE, paths, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_lines_are_in_the_order_of_the_items(save):
    path = save("sys.v2.txt", "a\r\nb\u2028b\n\n")
    (run,) = read_runs(SUITE, [path], campaign="wmt21", date="2021-09-30")
    assert (run.system, run.campaign, run.date) == ("sys.v2", "wmt21", "2021-09-30")
    assert run.outputs == {"001": "a", "002": "b\u2028b", "003": ""}


def test_lines_are_in_the_order_of_the_ids_where_they_are_given(save):
    ids = save("ids.txt", "003\r\n001 \r\n")
    one, two = read_runs(SUITE, [save("a.txt", "c\na\n"), save("b.txt", "C\nA")], ids=ids)
    assert one.outputs == {"003": "c", "001": "a"}
    assert two.outputs == {"003": "C", "001": "A"}


@pytest.mark.parametrize("header", ["item\toutput", "note\tID\tMT", "item_id\ttranslation"])
def test_a_table_has_any_order(save, header):
    front = "x\t" if header.startswith("note") else ""
    path = save("sys.tsv", f'{header}\n{front}003\t"c"\n{front} 001\t\n')
    (run,) = read_runs(SUITE, [path], ids=save("ids.txt", "002"))
    assert run.system == "sys"
    assert run.outputs == {"003": '"c"', "001": ""}


def test_systems_are_renamed_in_the_order_of_the_files(save):
    paths = [save("a.txt", "1\n2\n3"), save("b.tsv", "item\toutput\n001\tx")]
    assert [run.system for run in read_runs(SUITE, paths, names=["X", "Y"])] == ["X", "Y"]


def test_the_public_outputs_are_those_of_their_lines(shared):
    folder = shared / "testsuite/de-en"
    suite = read_suite(folder / "items.json")
    paths = sorted((folder / "wmt21/systems").glob("*.txt"))
    runs = read_runs(suite, paths, ids=folder / "wmt21/item_ids.txt")
    assert len(runs) == 18
    ids = (folder / "wmt21/item_ids.txt").read_text("utf-8").splitlines()
    for run, path in zip(runs, paths, strict=True):
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
        assert list(run.outputs.items()) == list(zip(ids, lines, strict=True))
        assert run.system == path.stem


def test_too_few_lines_are_told_with_both_files_and_counts(save):
    path, ids = save("a.txt", "x\ny\n"), save("ids.txt", "001\n002\n003\n")
    found = refused(path, ids=ids)
    assert found.startswith(f"{path}: 2 lines, but {ids} has 3 ids. ")


def test_too_many_lines_are_told_with_the_remedy(save):
    path = save("a.txt", "x\ny\nz\n\n")
    found = refused(path)
    assert found.startswith(f"{path}: 4 lines, but the suite has 3 items. ")
    assert "ids=FILE" in found


def test_an_unknown_id_is_told_with_its_line_and_the_nearest(save):
    ids = save("ids.txt", "001\n0003\n")
    found = refused(save("a.txt", "x\ny\n"), ids=ids)
    assert found.startswith(f"{ids}, line 2: no item of the suite has the id '0003' (did you mean")
    path = save("a.tsv", "item\toutput\n001\tx\n\ty\n")
    assert refused(path).startswith(f"{path}, line 3: there is no id.")


def test_an_id_twice_is_told_with_both_lines(save):
    ids = save("ids.txt", "001\n002\n001\n")
    found = refused(save("a.txt", "x\ny\nz\n"), ids=ids)
    assert found.startswith(f"{ids}, line 3: item 001 stands on line 1 already.")
    path = save("a.tsv", "item\toutput\n002\tx\n001\ty\n002\tz\n")
    assert refused(path).startswith(f"{path}, line 4: item 002 stands on line 2 already.")


def test_two_systems_of_one_name_are_told_with_both_files(save, tmp_path):
    (tmp_path / "x").mkdir()
    one, two = save("a.txt", "x\ny\nz\n"), save("x/a.txt.gz", "")
    assert re.search(f"^{one} and {two} would both be system 'a'", refused(one, two))
    assert "system 'X'" in refused(one, two, names=["X", "X"])


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"names": ["a", "b"]}, "2 names for 1 files"),
        ({"names": [" "]}, "the system has no name"),
        ({"date": "30.9.2021"}, "'30.9.2021' is not a date; write it as in 2021-09-30."),
    ],
)
def test_names_and_dates_are_checked(save, options, wanted):
    assert wanted in refused(save("a.txt", "x\ny\nz\n"), **options)


def test_a_table_without_outputs_is_told_its_columns(save):
    path = save("a.tsv", "item\tsource\n001\tx\n")
    assert refused(path) == f"{path}: no column output. Columns: item, source."


def test_standard_input_is_read_only_once():
    assert "only once" in refused("-", ids="-")
