"""Outputs come from plain files and tables of several systems, and odd ones are noticed."""

import openpyxl
import pytest

from assay.data import DataError
from assay.suites.files.outputs import preview_run, read_outputs
from assay.suites.model import Item, Rule, Run, Suite

SUITE = Suite(
    tuple(
        Item(
            f"i{at}",
            "",
            "C",
            "P",
            f"Satz {at}.",
            (Rule(f"i{at}+1", "positive", "fixed", f"s{at}"),),
        )
        for at in range(1, 7)
    )
)
IDS = [item.id for item in SUITE.items]
RIGHT = [f"s{at}" for at in range(1, 7)]


@pytest.fixture
def save(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        if name.endswith("xlsx"):
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append(row)
            book.save(path)
        else:
            mark = "," if name.endswith("csv") else "\t"
            path.write_text("".join(mark.join(row) + "\n" for row in rows), "utf-8")
        return path

    return write


def refused(path):
    with pytest.raises(DataError) as error:
        read_outputs(SUITE, path)
    return str(error.value)


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv", "out.tsv"])
@pytest.mark.parametrize("key", ["Id", "Source", "Sentence to translate"])
def test_a_table_has_ids_or_sources_and_a_column_per_system(save, name, key):
    keys = IDS if key == "Id" else [item.source for item in SUITE.items]
    rows = [[key, "category", "Atlas", "Birch"]]
    rows += [[given, "C", text, "x"] for given, text in zip(keys, RIGHT, strict=True)]
    atlas, birch = read_outputs(SUITE, save(name, [rows[0], *rows[:0:-1]]), campaign="c")
    assert (atlas.system, birch.system, atlas.campaign) == ("Atlas", "Birch", "c")
    assert atlas.outputs == dict(zip(IDS, RIGHT, strict=True))
    assert set(birch.outputs.values()) == {"x"}


def test_a_table_with_outputs_is_called_after_its_file(save):
    rows = [["item", "output"], ["i2", "s2"], ["i1", ""]]
    (run,) = read_outputs(SUITE, save("Atlas.tsv", rows))
    assert (run.system, run.outputs) == ("Atlas", {"i2": "s2", "i1": ""})


def test_a_table_without_ids_has_a_row_for_every_item(save):
    rows = [["Atlas", "Birch"], *([text, "x"] for text in RIGHT)]
    atlas, _ = read_outputs(SUITE, save("out.xlsx", rows))
    assert atlas.outputs == dict(zip(IDS, RIGHT, strict=True))
    assert "5 rows are not one for each of the 6 items" in refused(save("out.csv", rows[:-1]))


def test_wrong_tables_are_refused_with_their_row(save):
    assert "row 3: no item of the suite has 'i9'" in refused(
        save("a.tsv", [["id", "A"], ["i1", "x"], ["i9", "y"]])
    )
    assert "row 3: 'i1' stands in row 2 already" in refused(
        save("a.tsv", [["id", "A"], ["i1", "x"], ["i1", "y"]])
    )
    assert "two columns are called 'A'" in refused(
        save("a.tsv", [["id", "A", "A"], ["i1", "x", "y"]])
    )
    assert "no column has outputs" in refused(save("a.tsv", [["id", "category"], ["i1", "x"]]))


def test_a_preview_counts_verdicts_and_notices_a_wrong_order():
    good = preview_run(SUITE, Run("A", dict(zip(IDS, RIGHT, strict=True))))
    assert (dict(good.counts), good.missing, good.doubts) == ({"pass": 6}, 0, ())
    turned = preview_run(SUITE, Run("A", dict(zip(IDS, RIGHT[1:] + RIGHT[:1], strict=True))))
    assert turned.doubts == (
        "6 of 6 outputs are warnings: are they in the order of the items, and in the right "
        "language?",
    )
    copied = preview_run(SUITE, Run("A", {"i1": "Satz 1.", "i2": "", "i3": "Satz 3."}))
    assert copied.missing == 3
    assert [doubt[:6] for doubt in copied.doubts] == ["2 of 3", "1 of 3"]
