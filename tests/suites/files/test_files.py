"""Suites go through every format and come out the same."""

import csv
import gzip
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.files import read_suite, write_suite
from assay.suites.model import Item, Rule, Suite, rule_id

FORMATS = ("json", "jsonl", "tsv")

QUOTES = ['"', '""', "'", "\\", "\\n", "{", "["]
BREAKS = ["\t", "\n", "\r\n", "\r", "\u2028", "\x85", "\x1c", "\ufeff", "\0", " ", "ß", "😀"]
texts = st.lists(
    st.sampled_from(QUOTES + BREAKS)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    max_size=5,
).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
KNOWN = {
    "id",
    "langpair",
    "category",
    "phenomenon",
    "source_sentence",
    "rules",
    "items",
    "name",
} | {f"{sign}_{what}" for sign in ("positive", "negative") for what in ("regex", "tokens")}
keys = st.sampled_from(["comment", "text", "Item", "extra", "suite", "", "a\tb"]) | texts
extras = st.dictionaries(keys.filter(lambda key: key not in KNOWN), values, max_size=3)
ids = st.from_regex(r"[\wäß:\"'{\u2028.]([\w \"'+-]{0,6}\w)?", fullmatch=True).filter(
    lambda name: name == name.strip()
)


@st.composite
def rules(draw, item):
    made, counts = [], {"positive": 0, "negative": 0}
    for at in range(draw(st.integers(0, 4))):
        polarity = draw(st.sampled_from(["positive", "negative"]))
        counts[polarity] += 1
        name = draw(
            st.just(rule_id(item, polarity, counts[polarity]))
            | ids.map(lambda own, at=at: f"{item}/{at}/{own}")
        )
        kind = draw(st.sampled_from(["regex", "fixed"]))
        made.append(Rule(name, polarity, kind, draw(texts), draw(texts), draw(texts), draw(texts)))
    return tuple(made)


@st.composite
def suites(draw):
    names = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    every = draw(st.sampled_from([(), ("comment",), ("Comment", "by whom")]))
    items = []
    for name in names:
        extra = draw(extras) | {key: draw(texts) for key in every}
        items.append(Item(name, *(draw(texts) for _ in range(4)), draw(rules(name)), extra))
    seen = [rule.id for item in items for rule in item.rules]
    if len(set(seen)) < len(seen):
        items = [replace(item, rules=()) for item in items]
    return Suite(tuple(items), draw(texts), draw(extras))


def item(name="1", rules=(), **more):
    return Item(name, "deen", "Ambiguity", "Lexical", "Ihr Mann.", tuple(rules), **more)


@pytest.mark.parametrize("ending", FORMATS)
@given(suite=suites())
def test_any_suite_is_the_same_after_writing_and_reading(suite, ending, tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / f"items.{ending}"
    write_suite(path, suite)
    assert read_suite(path) == suite


@pytest.mark.parametrize("ending", [*FORMATS, "tsv.gz", "json.xz"])
def test_the_public_suite_is_the_same_after_writing_and_reading(shared, tmp_path, ending):
    suite = read_suite(shared / "testsuite/de-en/items.json")
    write_suite(tmp_path / f"items.{ending}", suite)
    assert read_suite(tmp_path / f"items.{ending}") == suite
    assert len(suite) == 2767


def test_the_public_file_comes_out_with_equal_json(shared, tmp_path):
    public = shared / "testsuite/de-en/items.json"
    write_suite(tmp_path / "items.json", read_suite(public))
    assert json.loads((tmp_path / "items.json").read_text("utf-8")) == json.loads(
        public.read_text("utf-8")
    )


def test_the_public_file_has_every_pattern_as_a_rule(shared):
    public = shared / "testsuite/de-en/items.json"
    items = json.loads(public.read_text("utf-8"))["items"]
    suite = read_suite(public)
    for fields, item in zip(items, suite.items, strict=True):
        wanted = []
        for sign in ("positive", "negative"):
            patterns = [("regex", fields[f"{sign}_regex"])] if fields[f"{sign}_regex"] else []
            patterns += [("fixed", token) for token in fields[f"{sign}_tokens"]]
            mark = "+" if sign == "positive" else "-"
            wanted += [
                Rule(f"{fields['id']}{mark}{number}", sign, kind, text)
                for number, (kind, text) in enumerate(patterns, 1)
            ]
        assert list(item.rules) == wanted
    empty = [rule for item in suite.items for rule in item.rules if not rule.text]
    assert {(rule.id[:8], rule.kind) for rule in empty} == {
        ("00476006", "fixed"),
        ("00550007", "fixed"),
        ("00653001", "fixed"),
    }


def written(tmp_path, *items, **more):
    write_suite(tmp_path / "items.json", Suite(tuple(items), **more))
    return json.loads((tmp_path / "items.json").read_text("utf-8"))


def test_several_regexes_of_one_sign_become_one_for_other_tools(tmp_path):
    rules = [Rule("1+1", "positive", "regex", "a|b"), Rule("1+2", "positive", "regex", "c")]
    (fields,) = written(tmp_path, item(rules=rules))["items"]
    assert fields["positive_regex"] == "(?:a|b)|(?:c)"
    assert [rule["text"] for rule in fields["rules"]] == ["a|b", "c"]


@pytest.mark.parametrize(
    "rule",
    [
        Rule("1+1", "positive", "regex", "a", author="Ada"),
        Rule("1+1", "positive", "regex", "a", time="2024-01-01T00:00:00"),
        Rule("1+1", "positive", "regex", "a", provenance="a decision"),
        Rule("mine", "positive", "regex", "a"),
        Rule("1+1", "positive", "regex", ""),
    ],
)
def test_rules_are_listed_only_where_the_public_fields_do_not_say_it_all(tmp_path, rule):
    standard = Rule("2+1", "positive", "regex", "a")
    first, second = written(tmp_path, item(rules=[rule]), item("2", rules=[standard]))["items"]
    assert "rules" not in second
    (told,) = first["rules"]
    assert Rule(**{"author": "", "time": "", "provenance": ""} | told) == rule


def test_the_items_of_a_public_file_are_a_jsonl_file_when_put_on_lines(shared, tmp_path):
    public = shared / "testsuite/de-en/items.json"
    items = json.loads(public.read_text("utf-8"))["items"]
    path = tmp_path / "items.jsonl"
    path.write_text("\n\n".join(map(json.dumps, items)), "utf-8")
    assert read_suite(path) == read_suite(public)


def test_a_table_has_one_row_per_rule_for_spreadsheets(tmp_path):
    rules = [Rule("1+1", "positive", "regex", r"\bman\b"), Rule("1-1", "negative", "fixed", 'a "b')]
    path = tmp_path / "items.tsv.gz"
    write_suite(path, Suite((item(rules=rules), item("2"))))
    text = gzip.decompress(path.read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), dialect="excel-tab"))
    assert [(row["item"], row["rule"], row["polarity"], row["text"]) for row in rows] == [
        ("1", "1+1", "positive", r"\bman\b"),
        ("1", "1-1", "negative", 'a "b'),
        ("2", "", "", ""),
    ]


def test_a_field_that_every_item_has_is_a_column_of_its_own(tmp_path):
    items = [item("1", extra={"who": "Ada", "n": 1}), item("2", extra={"who": ""})]
    path = tmp_path / "items.tsv"
    write_suite(path, Suite(tuple(items), "mine"))
    text = io.StringIO(path.read_text("utf-8"), newline="")
    rows = list(csv.DictReader(text, dialect="excel-tab"))
    assert [row["who"] for row in rows] == ["Ada", ""]
    assert [row["extra"] for row in rows] == ['{"n": 1}', ""]
    assert [row["suite"] for row in rows] == ['{"name": "mine"}', ""]


def test_a_table_with_one_row_per_item_has_a_token_on_each_line_of_a_cell(tmp_path):
    path = tmp_path / "items.tsv"
    path.write_text(
        "\ufeffID\tcategory\tPhenomenon\tsource\tpositive_regex\tnegative_tokens\tcomment\t\r\n"
        'x\tAmbiguity\tLexical\tEr sagte "Ja".\t\\bhusband\\b\t"man\n\nguy\n"\tlook\t\r\n'
        "\t\t\t\t\t\t\t\r\n",
        "utf-8",
        newline="",
    )
    (item,) = read_suite(path).items
    assert item == Item(
        "x",
        "",
        "Ambiguity",
        "Lexical",
        'Er sagte "Ja".',
        (
            Rule("x+1", "positive", "regex", r"\bhusband\b"),
            Rule("x-1", "negative", "fixed", "man"),
            Rule("x-2", "negative", "fixed", "guy"),
        ),
        {"comment": "look"},
    )


def test_rows_of_rules_may_leave_the_item_empty_and_need_no_ids(tmp_path):
    path = tmp_path / "items.tsv"
    path.write_text(
        "item\tcategory\tphenomenon\tsource\tpolarity\tkind\ttext\n"
        "x\tA\tB\tC\tpositive\tregex\ta\n"
        "y\tA\tB\tD\t\t\t\n"
        "x\t\t\t\tnegative\tfixed\t\n"
        "x\tA\t\t\tpositive\tfixed\tc\n"
    )
    first, second = read_suite(path).items
    assert [rule.id for rule in first.rules] == ["x+1", "x-1", "x+2"]
    assert (second.source, second.rules) == ("D", ())


def test_what_the_suite_says_of_itself_is_kept(tmp_path):
    whole = {"name": "mine", "version": [1, {"a": None}], "items": []}
    whole["items"].append(
        {"id": "1", "category": "A", "phenomenon": "B", "source_sentence": "C", "note": {"x": 1.5}}
    )
    path = tmp_path / "items.json"
    path.write_text(json.dumps(whole))
    suite = read_suite(path)
    assert (suite.name, suite.extra) == ("mine", {"version": [1, {"a": None}]})
    assert suite.items[0].extra == {"note": {"x": 1.5}}
    for ending in FORMATS:
        write_suite(tmp_path / f"again.{ending}", suite)
        assert read_suite(tmp_path / f"again.{ending}") == suite
