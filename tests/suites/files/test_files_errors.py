"""What is wrong with the file of a suite is said with its place."""

import json
import re
import sys

import pytest

from assay.data import DataError
from assay.suites.files import read_suite, write_suite
from assay.suites.model import Item, Rule, Suite

ITEM = {
    "id": "007",
    "langpair": "deen",
    "category": "A",
    "phenomenon": "B",
    "source_sentence": "C",
    "positive_regex": "a",
    "negative_regex": "",
    "positive_tokens": [],
    "negative_tokens": ["b"],
}
LONG = "item\tcategory\tphenomenon\tsource\trule\tpolarity\tkind\ttext\n"
WIDE = "item\tcategory\tphenomenon\tsource\tpositive_regex\n"
# Since 3.13, Python names the comma itself, not what comes after it.
TRAILING_COMMA = "line 2, column 14" if sys.version_info >= (3, 13) else "line 3, column 1"


def complaint(path, text):
    """What reading this text says, without the path in front."""
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as error:
        read_suite(path)
    message = str(error.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path)).removeprefix(", ").removeprefix(": ")


def of_items(*items, **more):
    return json.dumps({**more, "items": items}, indent=1)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"items": [\n  {"id": "1",\n   "category" "x"}]}', "line 3, column 15"),
        ('{"items": [\n  {"id": "1"},\n]}', TRAILING_COMMA),
        ('{"items": [', "line 1, column 12"),
        ("items", "line 1, column 1"),
        ('{"items": []} x', "line 1, column 15"),
    ],
)
def test_malformed_json_is_found_by_line_and_column(tmp_path, text, where):
    assert complaint(tmp_path / "items.json", text).startswith(f"{where}: not JSON (")


def test_malformed_json_in_a_line_is_found_by_line_and_column(tmp_path):
    text = json.dumps(ITEM) + '\n\n{"id": "1",, }\n'
    found = complaint(tmp_path / "items.jsonl", text)
    assert found.startswith("line 3, column 12: not JSON (")


def test_malformed_json_in_a_cell_is_found_by_line_column_and_cell(tmp_path):
    text = WIDE.rstrip() + "\textra\n" + "1\tA\tB\tC\ta\t{nothing}\n"
    found = complaint(tmp_path / "items.tsv", text)
    assert found.startswith("line 2, column 2 of extra: not JSON (")


@pytest.mark.parametrize("text", ["[]", '{"item": []}', '{"items": {}}', "3"])
def test_a_file_without_a_list_of_items_is_told_what_to_write(tmp_path, text):
    assert '{"items": [...]}' in complaint(tmp_path / "items.json", text)


@pytest.mark.parametrize(
    ("ending", "text"),
    [("json", '{"items": []}'), ("jsonl", "\n"), ("jsonl", '{"suite": {}}'), ("tsv", LONG)],
)
def test_a_suite_without_items_is_refused(tmp_path, ending, text):
    assert complaint(tmp_path / f"items.{ending}", text).lstrip().startswith("has no items")


def test_an_item_twice_in_a_file_is_told_with_both_lines(tmp_path):
    other = ITEM | {"id": "1"}
    found = complaint(tmp_path / "items.json", of_items(other, ITEM, ITEM | {"x": [{}]}, y=[1]))
    lines = (tmp_path / "items.json").read_text().split("\n")
    first, second = (at for at, line in enumerate(lines, 1) if '"007"' in line)
    assert found == (
        f"line {second - 1}: item 007 stands on line {first - 1} already; every item needs its own "
        "id."
    )


def test_an_item_twice_on_lines_is_told_with_both_lines(tmp_path):
    text = "\n".join(["", json.dumps(ITEM), json.dumps(ITEM | {"id": "1"}), json.dumps(ITEM)])
    found = complaint(tmp_path / "items.jsonl", text)
    assert found.startswith("line 4: item 007 stands on line 2 already")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (WIDE + '1\tA\tB\t"C\nD"\tx\n1\tA\tB\tC\ty\n', "line 4: item 1 stands on line 2 already"),
        (LONG + "1\tA\tB\tC\t\t\t\t\n" * 2, "line 3: item 1 stands on line 2 already"),
        (
            LONG
            + "1\tA\tB\tC\ta\tpositive\tregex\tx\n1\tA\tB\tD\tb\tpositive\tregex\ty\n",
            "line 3: item 1 has another source_sentence than on line 2",
        ),
    ],
)  # fmt: skip
def test_an_item_twice_in_a_table_is_told_with_both_lines(tmp_path, text, wanted):
    assert complaint(tmp_path / "items.tsv", text).startswith(wanted)


def test_a_rule_twice_is_told_with_both_lines(tmp_path):
    rule = {"id": "r", "polarity": "positive", "kind": "regex", "text": "a"}
    items = [
        {**ITEM, "id": name, "rules": [rule], "negative_tokens": []} for name in ("1", "2")
    ]  # fmt: skip
    found = complaint(tmp_path / "items.jsonl", "\n".join(map(json.dumps, items)))
    assert found.startswith("line 2: rule r stands on line 1 already")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"category": 5}, "item 007: 'category' is 5, but must be a text."),
        ({"source_sentence": None}, "item 007: 'source_sentence' is null, but must be a text."),
        ({"positive_regex": ["a"]}, """item 007: 'positive_regex' is ["a"], but must be a text."""),
        ({"langpair": ["de"]}, """item 007: 'langpair' is ["de"], but must be a text."""),
        ({"negative_tokens": "b"}, """item 007: 'negative_tokens' is "b", but must be a list of"""),
        ({"negative_tokens": ["b", True]}, "item 007: number 2 of 'negative_tokens' is true, but"),
        ({"rules": {}}, "item 007: 'rules' must be a list"),
        ({"rules": ["a"]}, "item 007: number 1 of 'rules': not a rule"),
        ({"rules": [{"kind": "fixed"}]}, "item 007: number 1 of 'rules': there is no 'polarity'"),
        ({"id": 7}, "'id' is 7, but must be a text."),
        ({"id": ""}, "item '': an id is neither empty"),
        ({"id": " 7"}, "item ' 7': an id is neither empty"),
        ({"id": "7\n8"}, r"item '7\n8': an id is neither empty"),
        ({"source_sentence": "\ud800"}, "a text has half a character"),
        ({"more": ["\udfff"]}, "a text has half a character"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_wrong_types_are_told_with_item_and_field(tmp_path, change, wanted, ending):
    items = [ITEM | {"id": "1"}, ITEM | change]
    text = of_items(*items) if ending == "json" else "\n".join(map(json.dumps, items))
    place, _, message = complaint(tmp_path / f"items.{ending}", text).partition(": ")
    assert message.startswith(wanted)
    assert place == ("line 16" if ending == "json" else "line 2")


@pytest.mark.parametrize("key", ["id", "category", "phenomenon", "source_sentence"])
def test_what_an_item_needs_must_be_there(tmp_path, key):
    fields = {name: value for name, value in ITEM.items() if name != key}
    assert f"there is no {key!r}" in complaint(tmp_path / "items.json", of_items(fields))


def rule(**change):
    return {"polarity": "positive", "kind": "regex", "text": "a"} | change


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"polarity": "positiv"}, "'polarity' is 'positiv', not positive or negative (did you"),
        ({"kind": "token"}, "'kind' is 'token', not regex or fixed"),
        ({"autor": "Ada"}, "unknown 'autor' (did you mean 'author'?). Rules have id, polarity"),
        ({"author": 3}, "'author' is 3, but must be a text."),
        ({"id": "a "}, "rule 'a ': an id is neither empty"),
    ],
)
def test_a_rule_that_is_none_is_told_with_item_and_field(tmp_path, change, wanted):
    fields = {key: value for key, value in ITEM.items() if "_" not in key or key[:2] == "so"}
    found = complaint(tmp_path / "items.json", of_items(fields | {"rules": [rule(**change)]}))
    assert found.startswith(f"line 3: item 007: number 1 of 'rules': {wanted}")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"positive_regex": "changed"}, "positive_regex"),
        ({"negative_tokens": []}, "negative_tokens"),
        ({"rules": []}, "positive_regex"),
    ],
)
def test_rules_that_disagree_with_the_public_fields_are_refused(tmp_path, change, field):
    rules = [rule(author="Ada"), rule(polarity="negative", kind="fixed", text="b")]
    agreeing = ITEM | {"rules": rules}
    (tmp_path / "items.json").write_text(of_items(agreeing))
    first, second = read_suite(tmp_path / "items.json").items[0].rules
    assert (first.id, first.author, second.id) == ("007+1", "Ada", "007-1")
    found = complaint(tmp_path / "items.json", of_items(agreeing | change))
    assert f"item 007: 'rules' and {field!r} disagree." in found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"items": [], "items": []}', "the key 'items' stands twice"),
        ('{"items": [{"id": "7", "category": "a", "category": "b"}]}', "'category' of '7' stands"),
        ('{"items": [], "x": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_json_that_would_lose_something_is_refused(tmp_path, text, wanted):
    assert wanted in complaint(tmp_path / "items.json", text)


def test_the_name_of_a_suite_is_a_text(tmp_path):
    assert "'name' must be a text" in complaint(tmp_path / "items.json", of_items(ITEM, name=3))
    half = complaint(tmp_path / "items.json", of_items(ITEM, name="\ud800"))
    assert half.startswith("a text has half a character")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("item\tcategory\tsource\tpolarity\tkind\ttext\n", "no column is called phenomenon"),
        (LONG.replace("kind", "kin"), "no column is called kind (did you mean 'kin'?)"),
        (LONG.replace("polarity", "sign"), "rules need the columns polarity, kind and text"),
        (LONG.replace("rule", "positive_regex"), "rules need the columns polarity, kind and text"),
        (WIDE.replace("\n", "\tid\n"), "the columns 'item' and 'id' hold the same"),
        (WIDE.replace("\n", "\tSource\n"), "the columns 'source' and 'Source' hold the same"),
    ],
)
def test_a_header_that_lacks_something_is_told_so(tmp_path, text, wanted):
    row = "1" + "\t" * text.count("\t") + "\n"
    assert complaint(tmp_path / "items.tsv", text + row).startswith(f"line 1: {wanted}")


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("1\tA\tB\tC", "line 4: 4 cells, but the header names 5 columns"),
        ('1\tA\tB\t"Ja", sagte er.\tx', "line 4: a cell in quotes does not end well"),
        ('1\tA\tB\t"Ja\tx', "line 4: a cell in quotes does not end well"),
        ("1 \tA\tB\tC\tx", "line 4: item '1 ': an id is neither empty"),
        ("\tA\tB\tC\tx", "line 4: item '': an id is neither empty"),
    ],
)
def test_a_row_that_is_wrong_is_told_by_its_first_line(tmp_path, row, wanted):
    text = WIDE + '0\tA\tB\t"C\nD"\tx\n' + row + "\n"
    assert complaint(tmp_path / "items.tsv", text).startswith(wanted)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ("a\tpositve\tregex\tx", "line 3: 'polarity' is 'positve', not positive or negative"),
        ("a\t\tregex\tx", "line 3: there is no 'polarity'"),
        ("a\tpositive\t\tx", "line 3: there is no 'kind'"),
    ],
)
def test_a_rule_in_a_table_is_told_by_its_line(tmp_path, cells, wanted):
    text = LONG + f"1\tA\tB\tC\tr\tpositive\tregex\tx\n1\tA\tB\tC\t{cells}\n"
    assert complaint(tmp_path / "items.tsv", text).startswith(wanted)


@pytest.mark.parametrize(
    ("extra", "wanted"),
    [
        ("[1]", "extra must be an object"),
        ('{""category"": 1}', "'category' is a column, and in extra too"),
    ],
)
def test_extra_cells_are_objects_with_fields_of_their_own(tmp_path, extra, wanted):
    text = WIDE.rstrip() + f'\textra\n1\tA\tB\tC\tx\t"{extra}"\n'
    assert complaint(tmp_path / "items.tsv", text).startswith(f"line 2: {wanted}")


def test_a_table_is_of_one_suite(tmp_path):
    text = WIDE.rstrip() + "\tsuite\n1\tA\tB\tC\tx\tone\n2\tA\tB\tC\tx\t\n3\tA\tB\tC\tx\ttwo\n"
    found = complaint(tmp_path / "items.tsv", text)
    assert found.startswith("line 4: another suite than above")
    (tmp_path / "items.tsv").write_text(text.replace("two", "one"))
    assert read_suite(tmp_path / "items.tsv").name == "one"


def test_a_cell_under_no_name_is_not_lost(tmp_path):
    text = WIDE.rstrip() + "\t\n1\tA\tB\tC\tx\tlook\n"
    assert complaint(tmp_path / "items.tsv", text).startswith("line 2: a cell under no name")


@pytest.mark.parametrize("path", ["items.doc", "items", "items.gz", "-"])
def test_a_name_without_a_format_is_told_the_formats(path):
    with pytest.raises(DataError, match=r"a suite is a file in \.json, \.jsonl or \.tsv"):
        read_suite(path)


PLAIN = Item("1", "", "A", "B", "C")


@pytest.mark.parametrize(
    ("suite", "wanted"),
    [
        (Suite(()), "no items to write"),
        (Suite((Item("", "", "A", "B", "C"),)), "an id is neither empty"),
        (Suite((Item("1", "", "A", "B", "C", (Rule("", "positive", "regex", "a"),)),)), "rule ''"),
        (Suite((Item("1", "", "A", "B", "C", (), {"rules": 1}),)), "cannot be called 'rules'"),
        (Suite((PLAIN,), extra={"items": 1}), "cannot be called 'items'"),
        (Suite((PLAIN,), extra={"x": float("nan")}), "JSON cannot hold"),
        (Suite((Item("1", "", "A", "B", "C", (), {"x": {1, 2}}),)), "JSON cannot hold"),
    ],
)
@pytest.mark.parametrize("ending", ["json", "jsonl", "tsv"])
def test_what_could_not_be_read_again_is_not_written(tmp_path, suite, wanted, ending):
    path = tmp_path / f"items.{ending}"
    with pytest.raises(DataError, match=re.escape(wanted)):
        write_suite(path, suite)
    assert list(tmp_path.iterdir()) == []
