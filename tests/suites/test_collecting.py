"""Translations come back to their items by the key, all of them or none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.suites.files import read_runs
from assay.suites.model import Item, Suite
from assay.suites.sampling import IDS, KeyLine, items_in, read_translations, write_collected

KEY = (
    KeyLine(1, "b", "Zwei."),
    KeyLine(2, "", "Anderes."),
    KeyLine(3, "a", "Eins."),
    KeyLine(4, "c", "Zwei."),
    KeyLine(5, "", "Noch  etwas."),
)
WANTED = ("two", "one", "deux")


@pytest.fixture
def save(tmp_path):
    """Write a file and get its path."""

    def write(name, text):
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return write


def written_to(folder, key, systems):
    """Write outputs that are given in the order of the key's items."""
    ids = [line.item for line in items_in(key)]
    by_item = {name: dict(zip(ids, lines, strict=True)) for name, lines in systems.items()}
    return write_collected(folder, by_item)


def refused(path, key=KEY):
    with pytest.raises(DataError) as error:
        read_translations(path, key)
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "two\nother\none\ndeux\nmore\n",
        "\ufefftwo\r\nother\r\r\none\r\ndeux\r\r\nmore",
    ],
)
def test_a_plain_file_is_in_the_order_of_the_key(save, text):
    assert read_translations(save("a.txt", text), KEY) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        "line\ttranslation\n4\tdeux\n3\tone\n1\ttwo\n",
        "Output\tLine\nmore\t5\ndeux\t4\ntwo\t01\none\t3\n",
        "src\tmt\tline\nZwei.\tdeux\t4\nEins. \tone\t3\nZwei.\ttwo\t1\n",
        "source\ttarget\nZwei.\ttwo\nEins.\tone\nZwei.\tdeux\n",
        "source\ttranslation\nNoch etwas. \tmore\n Zwei.\ttwo\nZwei.\tdeux\nEins.\tone\n",
    ],
)
def test_a_table_comes_in_any_order_by_line_or_source(save, text):
    assert read_translations(save("a.tsv", text), KEY) == WANTED


@given(st.permutations(range(5)))
def test_any_order_gives_the_same(tmp_path_factory, order):
    path = tmp_path_factory.mktemp("any") / "a.tsv"
    texts = ["two", "other", "one", "deux", "more"]
    rows = [f"{at + 1}\t{texts[at]}\n" for at in order]
    path.write_text("line\ttranslation\n" + "".join(rows))
    assert read_translations(path, KEY) == WANTED


def test_one_translation_of_a_source_serves_all_its_lines(save):
    text = "source\ttranslation\nEins.\tone\nZwei.\ttwo\n"
    assert read_translations(save("a.tsv", text), KEY) == ("two", "one", "two")


def test_an_empty_translation_is_one(save):
    assert read_translations(save("a.txt", "\n\n\n\n\n"), KEY) == ("", "", "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("line\ttranslation\n3\tone\n1\ttwo\n", ": line 4 of the text, 'Zwei.', has no"),
        ("source\ttranslation\nZwei.\ttwo\n", ": line 3 of the text, 'Eins.', has no"),
        ("line\ttranslation\n6\tx\n", ", line 2: the text has no line 6; the key has 5."),
        ("line\ttranslation\n0\tx\n", ", line 2: '0' is not a line number"),
        ("line\ttranslation\n1\tx\n2\ty\n1\tz\n", ", line 4: line 1 is on line 2 already."),
        ("line\tsource\tmt\n1\tEins.\tx\n", ", line 2: this is not line 1 of the text, which"),
        ("source\tmt\nEinz.\tx\n", ", line 2: the text has no line 'Einz.' (did you mean 'Eins"),
        ("source\tmt\nEins.\tx\nEins.\ty\n", ": 'Eins.' is translated on lines 2 and 3, but"),
        ("source\tmt\n" + "Zwei.\tx\n" * 3, ": 'Zwei.' is translated on lines 2 and 3, but"),
        ("item\tmt\nb\tx\n", ", line 1: no column is called line or source"),
        ("line\tsource\n1\tx\n", ": no column translation. Columns: line, source."),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_the_key_is_refused(save, text, wanted):
    assert refused(save("a.tsv", text)).startswith(wanted)


def test_a_plain_file_of_another_length_is_refused(save):
    assert refused(save("a.txt", "x\n" * 4)).startswith(": 4 lines, but the key has 5. ")


def files(folder):
    return {path.name: path.read_text("utf-8") for path in Path(folder).iterdir()}


def test_what_is_written_is_what_runs_are_read_from(tmp_path):
    home = tmp_path / "new" / "folder"
    systems = {"A": WANTED, "B.v2": ("2", "", "zwei")}
    written = written_to(home, KEY, systems)
    assert written == [home / IDS, home / "A.txt", home / "B.v2.txt"]
    suite = Suite(tuple(Item(name, "", "C", "P", "x") for name in "abc"))
    one, two = read_runs(suite, written[1:], ids=home / IDS)
    assert (one.system, one.outputs) == ("A", {"b": "two", "a": "one", "c": "deux"})
    assert (two.system, two.outputs) == ("B.v2", {"b": "2", "a": "", "c": "zwei"})


def test_another_system_of_the_same_items_is_added(tmp_path):
    written_to(tmp_path, KEY, {"A": WANTED})
    assert written_to(tmp_path, KEY, {"B": WANTED}) == [tmp_path / "B.txt"]
    assert set(files(tmp_path)) == {IDS, "A.txt", "B.txt"}


@pytest.mark.parametrize(
    ("key", "systems", "wanted"),
    [
        (KEY, {"B": WANTED, "A": WANTED}, "A.txt is there already and is not overwritten"),
        (KEY[:3], {"B": WANTED[:2]}, "item_ids.txt has the items of another key"),
        (KEY, {"B": WANTED, "x/y": WANTED}, "'x/y' cannot be a file's"),
        (KEY, {".b": WANTED}, "'.b' cannot be a file's"),
        (KEY, {"Item_IDs": WANTED}, "a system cannot be called 'Item_IDs'"),
        (KEY, {"B": WANTED, "C": ("a\nb", "", "")}, "C.txt: segment 1 has a line break"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(tmp_path, key, systems, wanted):
    written_to(tmp_path, KEY, {"A": WANTED})
    before = files(tmp_path)
    with pytest.raises(DataError, match=wanted):
        written_to(tmp_path, key, systems)
    assert files(tmp_path) == before


def test_a_new_folder_is_removed_where_writing_fails(tmp_path):
    with pytest.raises(DataError, match="line break"):
        written_to(tmp_path / "x" / "y", KEY, {"A": WANTED, "B": ("a\n", "", "")})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"file/new.*cannot be made"):
        written_to(tmp_path / "file" / "new", KEY, {"A": WANTED})
