"""Tables with any column names, and TQ-AutoTest's own files, become suites."""

import json

import openpyxl
import pytest

from assay.data import DataError
from assay.suites.files import columns, read_suite
from assay.suites.files.columns import (
    guess_roles,
    is_tq_autotest,
    named_roles,
    read_item_table,
)
from assay.suites.files.mapping import RowProblem, map_items, suite_of_table
from assay.suites.model import Item, Rule

TAB = "\t".join(
    ["Direction", "Category", "Phenomenon", "Source"]
    + 2 * ["Correct Translation"]
    + 2 * ["Incorrect Translation"]
)
SEMICOLON = "direction;category;phenomenon;source;correct;correct2;incorrect;incorrect2"


@pytest.fixture
def save(tmp_path):
    """Write a file and get its path."""

    def write(name, text):
        (tmp_path / name).write_text(text, "utf-8", newline="")
        return tmp_path / name

    return write


def saved_sheet(path, rows):
    """A workbook with these rows."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def mapped(path, *chosen, **options):
    table = read_item_table(path)
    return map_items(table, named_roles(table, chosen), **options)


def refused(call, *args, **options):
    with pytest.raises(DataError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("ending", ["txt", "tsv"])
def test_tq_autotests_tabs_are_read_with_whole_sentences_as_fixed_strings(save, ending):
    rows = [
        "deen\tAmbiguity\tLexical\tDie Birne.\tThe bulb (100 W).\tThe lamp.\tThe pear.\t",
        'deen\tPunctuation\tQuotes\t"""Ja"", sagte er."\t"""Yes"", he said."\t\t\t',
    ]
    suite = read_suite(save(f"de-en.{ending}", "\r\n".join([TAB, *rows]) + "\r\n"))
    assert suite.items[0] == Item(
        "001",
        "deen",
        "Ambiguity",
        "Lexical",
        "Die Birne.",
        (
            Rule("001+1", "positive", "fixed", "The bulb (100 W)."),
            Rule("001+2", "positive", "fixed", "The lamp."),
            Rule("001-1", "negative", "fixed", "The pear."),
        ),
    )
    assert suite.items[1].source == '"Ja", sagte er.'
    assert suite.items[1].texts("positive", "fixed") == ['"Yes", he said.']


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_tq_autotests_semicolons_and_byte_order_mark_are_read(save, ending):
    rows = 'ende;Ambiguity;Lexical;The bat.;"Der Schläger; die Keule.";;Die Fledermaus.;\n'
    suite = read_suite(save(f"en-de.{ending}", f"\ufeff{SEMICOLON}\n{rows}"))
    (item,) = suite.items
    assert (item.id, item.languages, item.source) == ("001", "ende", "The bat.")
    assert item.texts("positive", "fixed") == ["Der Schläger; die Keule."]
    assert item.texts("negative", "fixed") == ["Die Fledermaus."]


def test_tq_autotests_own_file_is_read(shared):
    suite = read_suite(shared / "testsuite" / "tq-autotest" / "de-en.txt")
    assert len(suite) == 237
    assert {rule.kind for item in suite.items for rule in item.rules} == {"fixed"}
    assert suite.items[98].source == '"Ich glaube", sagte Lena, "ich kann nicht mehr gewinnen."'


def test_a_wrong_row_of_tq_autotests_file_is_named(save):
    path = save("de-en.txt", f"{TAB}\ndeen\tA\tB\tEin Satz.\tx\ty\tz\t\ndeen\tA\tB\t \tx\t\t\t\n")
    assert "row 3: the source is empty" in refused(read_suite, path)


def test_headers_of_other_tables_are_not_tq_autotests():
    assert is_tq_autotest(SEMICOLON.split(";"))
    assert not is_tq_autotest(["direction", "category", "phenomenon", "source"])
    assert not is_tq_autotest(["direction", "category", "phenomenon", "source", "correct", "note"])
    assert not is_tq_autotest(["item", "category", "phenomenon", "source", "correct"])


ROWS = [
    ["German", "Topic", "Area", "Right", "Right 2", "Wrong", "Remark"],
    ["Die Birne.", "Lexical", "Ambiguity", r"\b[Bb]ulb\b", "lamp", "pear", "old"],
    ["Das Schloss.", None, None, "castle\nlock", None, None, None],
]


def test_a_workbook_with_any_column_names_becomes_items(tmp_path):
    path = saved_sheet(tmp_path / "sheet.xlsx", ROWS)
    found = mapped(
        path,
        "source=german",
        "phenomenon=Topic",
        "category=Area",
        "positive_regex=Right",
        "positive_fixed=Right 2",
        "negative_fixed=Wrong",
        languages="de-en",
    )
    assert found.problems == ()
    one, two = found.items
    assert one.rules == (
        Rule("001+1", "positive", "regex", r"\b[Bb]ulb\b"),
        Rule("001+2", "positive", "fixed", "lamp"),
        Rule("001-1", "negative", "fixed", "pear"),
    )
    assert dict(one.extra) == {"Remark": "old"}
    assert (one.languages, two.category, two.phenomenon) == ("de-en", "Ambiguity", "Lexical")
    assert two.texts("positive", "regex") == ["castle", "lock"]
    assert found.notes == (
        "1 row has no category (row 3): taken from the row above.",
        "1 row has no phenomenon (row 3): taken from the row above.",
    )


def test_the_guess_finds_what_the_columns_hold(tmp_path):
    path = saved_sheet(tmp_path / "sheet.xlsx", ROWS)
    assert guess_roles(read_item_table(path)) == (
        "source",
        "phenomenon",
        "category",
        "positive_regex",
        "positive_fixed",
        "negative_fixed",
        "keep",
    )


def test_the_guess_knows_german_names_and_alternatives(save):
    path = save(
        "sheet.csv", "Nr,Satz,Gruppe,Thema,richtig\n1,Er fängt an.,Verb,Trennbar,start|begin\n"
    )
    held = guess_roles(read_item_table(path))
    assert held == ("id", "source", "category", "phenomenon", "positive_regex")


def test_objects_of_json_are_rows(save):
    record = {"no": 7, "sentence": "Ja.", "topic": "T", "good": ["yes", "yeah"], "bad": None}
    lines = save("sheet.jsonl", json.dumps(record))
    listed = save("sheet.json", json.dumps([record]))
    held = save("held.json", json.dumps({"name": "mine", "items": [record]}))
    for path in (lines, listed, held):
        table = read_item_table(path)
        suite = suite_of_table(table, guess_roles(table))
        (item,) = suite.items
        assert (item.id, item.source, item.category) == ("7", "Ja.", "T")
        assert item.texts("positive", "fixed") == ["yes", "yeah"]
    assert suite.name == "mine"


def test_rules_of_a_cell_are_cut_at_line_breaks_and_at_the_separator(save):
    path = save("sheet.csv", 'source,good\nJa.,"yes / yeah /\nyep"\n')
    (item,) = mapped(path, "source=source", "positive_fixed=good", separator="/").items
    assert item.texts("positive", "fixed") == ["yes", "yeah", "yep"]
    (item,) = mapped(path, "source=source", "positive_fixed=good").items
    assert item.texts("positive", "fixed") == ["yes / yeah /", "yep"]


def test_everything_that_is_wrong_is_told_with_its_row(save):
    path = save(
        "sheet.csv",
        "id,source,topic,good\n1,Ja.,T,yes\n2,,T,x\n1,Nein.,T,no\n4,Gut.,T,(\n,Da.,T,x\n5,Da.,,x\n",
    )
    found = mapped(path, "id=id", "source=source", "phenomenon=topic", "positive_regex=good")
    assert [item.id for item in found.items] == ["1", "5"]
    assert [problem.row for problem in found.problems] == [3, 4, 5, 6]
    told = [problem.text for problem in found.problems]
    assert told[0] == "the source is empty. Write one, or remove the row."
    assert told[1] == "item 1 stands in row 2 already; every item needs an id of its own."
    assert "is not a regular expression" in told[2]
    assert "there is no id" in told[3]
    assert isinstance(found.problems[0], RowProblem)


def test_the_first_row_needs_its_phenomenon(save):
    found = mapped(
        save("a.csv", "source,topic\nJa.,\nNein.,T\n"), "source=source", "phenomenon=topic"
    )
    assert found.problems == (RowProblem(2, "there is no phenomenon, and no row above has one."),)


def test_items_without_ids_keep_those_that_the_suite_gave_them(save):
    known = [Item("9", "", "T", "T", "Ja."), Item("001", "", "T", "T", "Doch.")]
    path = save("sheet.csv", "source,topic\nNein.,T\nJa.,T\nJa.,T\n")
    found = mapped(path, "source=source", "phenomenon=topic", known=known)
    assert [item.id for item in found.items] == ["002", "9", "003"]
    assert any("have the same source" in note for note in found.notes)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (["phenomenon=topic"], "say which column holds the source"),
        (["sauce=source"], "(did you mean 'source'?)"),
        (["source"], "write WHAT=COLUMN"),
        (["source=sourc"], "no column is called 'sourc' (did you mean 'source'?)"),
        (["source=source", "source=topic"], "cannot all be the source"),
        (["source=source", "id=source"], "cannot be source and id"),
        (["source=topic"], "'id' cannot be kept under this name"),
    ],
)
def test_a_mapping_that_says_nothing_is_refused(save, chosen, told):
    path = save("sheet.csv", "source,topic,id\nJa.,T,1\n")
    assert told in refused(mapped, path, *chosen)


def test_a_suites_own_columns_are_known_in_workbooks_too(tmp_path):
    rows = [
        ["item", "category", "phenomenon", "source", "polarity", "kind", "text", "author"],
        ["a", "C", "P", "Ja.", "positive", "fixed", "yes", "Ann"],
        ["a", None, None, None, "negative", "regex", "no+", None],
    ]
    (item,) = read_suite(saved_sheet(tmp_path / "suite.xlsx", rows)).items
    assert item.rules == (
        Rule("a+1", "positive", "fixed", "yes", "Ann"),
        Rule("a-1", "negative", "regex", "no+"),
    )


def test_a_table_that_nobody_knows_is_told_how_to_import_it(save):
    path = save("sheet.csv", "German,Topic\nJa.,T\n")
    told = refused(read_suite, path)
    assert "--columns source=German phenomenon=Topic" in told


@pytest.mark.parametrize("text", ["German,Topic\n", "", "\n\n"])
def test_a_table_without_rows_is_refused(save, text):
    assert "has no items" in refused(read_item_table, save("sheet.csv", text))


def test_a_cell_far_to_the_right_is_one_column_and_very_many_cells_are_refused(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(columns, "MOST_CELLS", 20)
    path, header = tmp_path / "items.csv", f"German,Topic{',' * 100}x\n"
    path.write_text(header + "Satz,Lex\n" * 4)
    table = read_item_table(path)
    assert table.columns == ("German", "Topic", "x")
    assert table.rows[0].cells == ["Satz", "Lex", ""]
    path.write_text(header + "Satz,Lex\n" * 7)
    with pytest.raises(DataError, match="8 rows of 3 columns are no table of items"):
        read_item_table(path)


def test_a_title_above_the_names_of_the_columns_is_left_out(tmp_path):
    title, names = ["Our sentences, May"], ["German", "Topic", "Right"]
    path = saved_sheet(tmp_path / "a.xlsx", [title, [], names, ["Die Birne.", "Lexical", "bulb"]])
    told = mapped(path, "source=German", "phenomenon=Topic", "positive_fixed=Right")
    assert [(item.source, item.rules[0].text) for item in told.items] == [("Die Birne.", "bulb")]
    assert told.notes == ("Row 3 names the columns; what stands above is left out.",)
    # Below one or two columns nobody can tell a title from a name.
    narrow = saved_sheet(tmp_path / "b.xlsx", [["German"], ["Die Birne.", "new"]])
    assert read_item_table(narrow).columns == ("German", "column 2")


@pytest.mark.parametrize("mark", [";", " / "])
def test_cells_that_seem_to_hold_several_rules_are_noted(tmp_path, mark):
    rows = [["German", "Right"], ["Die Birne.", f"bulb{mark}lamp"], ["Das Schloss.", "castle"]]
    path = saved_sheet(tmp_path / "a.xlsx", [*rows, ["Die Bank.", f"bench{mark}seat"]])
    chosen = "source=German", "positive_fixed=Right"
    (note,) = mapped(path, *chosen).notes
    assert note.startswith(f"Column 'Right' has '{mark.strip()}' in 2 of 3 cells")
    assert mapped(path, *chosen, separator=mark).notes == ()
