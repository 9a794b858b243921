"""From nothing to a running project in the page: items from a file, outputs, edited items."""

import io
import re

import numpy as np
import openpyxl
import pytest
from sqlalchemy import select

from assay.suites.model import Item, Rule, Suite
from assay.suites.store.dealing import assign
from assay.suites.store.items import find_items
from assay.suites.store.queue import next_case
from assay.suites.store.runs import stored_runs
from assay.suites.store.suites import load_suite, save_suite
from assay.suites.store.tables import outputs
from assay.suites.web import uploads
from tests.suites.web.conftest import JSON

ROWS = [
    ["German", "Topic", "Right", "Wrong"],
    ["Die Birne.", "Lexical", "bulb", "pear"],
    ["Das Schloss.", "Lexical", "castle", "lock"],
]


def workbook(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def send(visitor, path, *files, **fields):
    """Send files as (field, name, data)."""
    sent = [(field, (name, data)) for field, name, data in files]
    return visitor.client.post(path, data=fields, files=sent)


def looked_at(visitor, *files, **fields):
    """The page that shows what is in files with outputs."""
    return visitor.get(send(visitor, "/suite/outputs", *files, **fields).headers["location"])


def mapping(visitor, data, name="sheet.xlsx"):
    """The address of the page that asks what the columns of a file hold."""
    answer = send(visitor, "/suite/file", ("file", name, data))
    assert answer.status_code == 303
    return answer.headers["location"]


def chosen(*roles, **more):
    return {f"column-{at}": role for at, role in enumerate(roles)} | {"name": "Mine"} | more


def suite_of(store):
    with store.read() as conn:
        return load_suite(conn)


def imported(visitor):
    roles = chosen("source", "phenomenon", "positive_fixed", "negative_fixed", languages="de-en")
    return visitor.post(mapping(visitor, workbook(ROWS)), **roles)


def test_an_empty_database_begins_with_making_a_suite(ann):
    assert ann.get("/resolve").headers["location"] == "/suite"
    shown = ann.get("/suite").text
    assert "Make a suite" in shown
    assert "From nothing" in shown


def test_a_suite_from_nothing_goes_on_with_its_first_item(bare, ann):
    answer = ann.post("/suite", name="Mine", languages="de-en", first="1")
    assert answer.headers["location"] == "/items/new"
    assert 'name="languages" value="de-en"' in ann.get("/items/new").text
    rules = {"rule-0-role": "positive_regex", "rule-0-text": "bulb"}
    item = {"source": "Die Birne.", "category": "A & B", "phenomenon": "L", "languages": "de-en"}
    answer = ann.post("/items/new", **item, **rules, more="1")
    another = ann.get(answer.headers["location"]).text
    assert 'name="category" value="A &amp; B"' in another
    assert 'name="phenomenon" value="L"' in another
    assert "You added item 001" in another
    suite = suite_of(bare)
    assert (suite.name, suite.items[0].id, suite.items[0].rules[0].text) == ("Mine", "001", "bulb")


def test_a_sheet_is_guessed_previewed_and_imported(bare, ann):
    page = mapping(ann, workbook(ROWS))
    shown = ann.get(page).text
    assert re.search(r'aria-label="What German holds">\s*<option value="source" selected', shown)
    assert "2 items" in shown
    assert len(suite_of(bare)) == 0
    reply = ann.live(f"{page}/preview", **chosen("source", "category", "ignore", "ignore")).json()
    assert "2 items have no rules (rows 2 and 3)" in reply["preview"]
    done = imported(ann)
    # The browser is sent to the suite's page, whose address can be loaded again.
    assert (done.status_code, done.headers["location"]) == (303, "/suite?added=2&changed=0")
    for _ in range(2):
        assert "2 items added, 0 items changed." in ann.get(done.headers["location"]).text
    suite = suite_of(bare)
    assert suite.name == "Mine"
    assert [item.source for item in suite.items] == ["Die Birne.", "Das Schloss."]
    assert suite.items[0].texts("negative", "fixed") == ["pear"]
    assert suite.items[0].languages == suite.extra["languages"] == "de-en"


def test_what_is_wrong_with_a_sheet_is_told_before_anything_is_saved(bare, ann):
    rows = [*ROWS, ["", "Lexical", "x", "y"], ["Gut.", "Lexical", "(", "y"]]
    page = mapping(ann, workbook(rows))
    roles = chosen("source", "phenomenon", "positive_regex", "ignore")
    shown = ann.live(f"{page}/preview", **roles).json()["preview"]
    assert "<b>Row 4</b>: the source is empty" in shown
    assert "<b>Row 5</b>" in shown
    assert "is not a regular expression" in shown
    answer = ann.post(page, **roles)
    assert answer.status_code == 400
    assert "2 rows to mend" in answer.text
    assert len(suite_of(bare)) == 0
    answer = ann.post(page, **chosen("keep", "phenomenon", "keep", "keep"))
    assert "say which column holds the source" in answer.text
    assert "/tmp" not in answer.text


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.xlsx", b"PK\x03\x04junk", "damaged or no Excel workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0junk", "Excel file of the old kind"),
        ("a.csv", b"German,Topic\n", "has no items"),
        ("a.csv", "Grüße,b\nx,y".encode("latin1"), "not UTF-8"),
        ("a.json", b"{", "not JSON"),
        ("../../etc/passwd", b"", "has no items"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_as_its_sender_calls_it(ann, name, data, told):
    answer = ann.get(mapping(ann, data, name))
    assert told in answer.text
    assert name.rpartition("/")[2] in answer.text
    assert "/tmp" not in answer.text


def test_files_have_a_limit_and_an_owner_and_do_not_last(monkeypatch, ann):
    monkeypatch.setattr(uploads, "LARGEST_FILE", 10)
    answer = send(ann, "/suite/file", ("file", "a.csv", b"x" * 11))
    assert answer.status_code == 400
    assert "a.csv is larger than" in answer.text
    answer = send(ann, "/suite/file", ("file", "", b""))
    assert "No file was chosen" in answer.text
    assert ann.get("/suite/file/unknown").status_code == 404


def test_only_leads_bring_files_and_change_items(app, ada, ben):
    for path in ("/suite/outputs", "/items/new", "/items/1"):
        assert ada.get(path).status_code == 200
        assert ben.get(path).status_code == 403
    assert send(ben, "/suite/file", ("file", "a.csv", b"x,y\n1,2\n")).status_code == 403
    assert send(ben, "/suite/outputs", ("files", "a.txt", b"x")).status_code == 403
    for path in ("/suite", "/items/new", "/items/1", "/items/1/preview", "/items/1/retire"):
        assert ben.post(path, name="x").status_code == 403
    page = mapping(ada, b"source,topic\na,b\n", "a.csv")
    assert ben.get(page).status_code == 403
    assert "Add an item" not in ben.get("/items").text
    assert ben.get("/suite").status_code == 200


def test_outputs_are_looked_at_named_and_saved(bare, ann):
    imported(ann)
    files = [
        ("files", "atlas.txt", b"A bulb.\nA castle.\n"),
        ("files", "birch.txt", b"A pear.\nHm.\n"),
    ]
    shown = looked_at(ann, *files, campaign="wmt26", date="2026-05-01")
    assert shown.status_code == 200
    assert 'value="atlas"' in shown.text
    assert "test round (campaign) <b" in shown.text
    with bare.read() as conn:
        assert stored_runs(conn) == []
    action = re.search(r'action="(/suite/outputs/[^"]+)"', shown.text)[1]
    fields = {"campaign": "wmt26", "date": "2026-05-01", "ids": ""}
    twice = ann.post(action, **fields, **{"system-0": "Same", "system-1": "Same"})
    assert "two systems are called &#39;Same&#39;" in twice.text
    assert 'value="Same"' in twice.text
    done = ann.post(action, **fields, **{"system-0": "Atlas", "system-1": "birch"})
    assert done.status_code == 303
    for _ in range(2):
        told = ann.get(done.headers["location"]).text
        assert "Outputs of Atlas and birch were added" in told
    with bare.read() as conn:
        told = [(run.system, run.campaign, run.date, run.outputs) for run in stored_runs(conn)]
    assert told == [("Atlas", "wmt26", "2026-05-01", 2), ("birch", "wmt26", "2026-05-01", 2)]
    again = looked_at(ann, ("files", "Atlas.txt", b"x\ny\n"), campaign="wmt26")
    action = re.search(r'action="(/suite/outputs/[^"]+)"', again.text)[1]
    clash = ann.post(action, campaign="wmt26", **{"system-0": "Atlas"})
    assert "tick the box to replace" in clash.text
    assert ann.post(action, campaign="wmt26", replace="1").status_code == 303


def test_outputs_in_the_order_of_a_file_with_ids(bare, ann):
    imported(ann)
    files = [("files", "atlas.txt", b"A castle.\n"), ("ids", "ids.txt", b"002\n")]
    shown = looked_at(ann, *files)
    action = re.search(r'action="(/suite/outputs/[^"]+)"', shown.text)[1]
    ann.post(action, ids="1")
    with bare.read() as conn:
        assert [each.outputs for each in find_items(conn)] == [0, 1]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.txt", b"one line\n", "a.txt: 1 lines, but the suite has 2 items"),
        ("a.txt", b"one line\n", "blank lines count, or send a file with the ids."),
        ("a.txt", "Grüße\nx\n".encode("latin1"), "in a text editor by"),
        ("a.csv", b"id,A\nx,y\n", "no column has the ids"),
        ("a.xlsx", b"PK\x03\x04", "damaged"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(ann, name, data, told):
    imported(ann)
    answer = looked_at(ann, ("files", name, data), campaign="wmt26")
    assert answer.status_code == 400
    assert told in answer.text
    assert "/tmp" not in answer.text
    assert 'value="wmt26"' in answer.text


def test_an_item_is_tried_while_typing_saved_and_undone(store, ada):
    with store.read() as conn:
        number, item = next((each.number, each.item) for each in find_items(conn))
    fields = {"source": item.source, "category": item.category, "phenomenon": item.phenomenon}
    for at, rule in enumerate((*item.rules, None)):
        role = f"{rule.polarity}_{rule.kind}" if rule else "positive_fixed"
        fields |= {
            f"rule-{at}-id": rule.id if rule else "",
            f"rule-{at}-role": role,
            f"rule-{at}-text": rule.text if rule else "spouse",
        }
    shown = ada.live(f"/items/{number}/preview", **fields).json()["preview"]
    assert "4 changed" in shown
    assert shown.count("becomes") == 4
    wrong = ada.live(f"/items/{number}/preview", **fields | {"rule-0-text": "("}).json()
    assert "is not a regular expression" in wrong["preview"]
    assert ada.post(f"/items/{number}", **fields | {"source": ""}).status_code == 400
    shown = ada.get(ada.post(f"/items/{number}", **fields).headers["location"]).text
    assert "Saved." in shown
    assert f'name="after" value="/items/{number}"' in shown
    with store.read() as conn:
        assert find_items(conn)[0].warnings == 0
    assert "changed item m1: " in ada.get("/history").text
    ada.post("/undo")
    with store.read() as conn:
        assert find_items(conn)[0].item == item


def test_the_next_item_begins_with_the_phenomenon_of_the_last_one(ada):
    fields = {"source": "x", "category": "Verbs & nouns", "phenomenon": "100 % + #1"}
    answer = ada.post("/items/new", **fields, more="1")
    page = ada.get(answer.headers["location"]).text
    assert 'name="category" value="Verbs &amp; nouns"' in page
    assert 'name="phenomenon" value="100 % + #1"' in page


def test_the_form_of_an_item_tells_a_second_judge_nothing(store, ada, ben):
    with store.write() as conn:
        assign(conn, 1, {"Ada": 1, "Ben": 1}, double=1, rng=np.random.default_rng(1))
        output = next_case(conn, 2).output.id
    ben.live("/decide", output=output, choice="fail", seen=0)
    with store.read() as conn:
        item = conn.execute(select(outputs.c.item_id).where(outputs.c.id == output)).scalar_one()
    assert "said fail" not in ada.get(f"/items/{item}").text
    ada.live("/decide", output=output, choice="fail", seen=1)
    assert ada.get(f"/items/{item}").text.count("said fail") == 2


def test_rules_of_the_items_form_have_the_length_of_rules_in_the_page(store, ada):
    item = {"source": "x", "category": "A", "phenomenon": "B"}
    for kind in ("fixed", "regex"):
        rule = {"rule-0-role": f"positive_{kind}", "rule-0-text": "a" * 2001}
        answer = ada.post("/items/new", **item, **rule)
        assert answer.status_code == 400
        assert "a rule has at most 2,000 characters, and this one has 2,001" in answer.text
        tried = ada.live("/items/1/preview", **item, **rule).json()["preview"]
        assert "a rule has at most 2,000 characters" in tried
    # A longer one from a file stays, and does not keep others from being changed.
    long = Item("long", "", "A", "B", "x", (Rule("long+1", "positive", "fixed", "a" * 2001),))
    with store.write() as connection:
        save_suite(connection, Suite((long,)))
        number = next(each.number for each in find_items(connection) if each.item.id == "long")
    rule = {"rule-0-id": "long+1", "rule-0-role": "positive_fixed", "rule-0-text": "a" * 2001}
    assert ada.post(f"/items/{number}", **item | {"source": "y"}, **rule).status_code == 303


def test_an_item_is_retired_and_brought_back(store, ada):
    ada.post("/items/1/retire")
    assert "This item is retired" in ada.get("/items/1").text
    assert "retired" in ada.get("/items?lacking=use").text
    ada.post("/items/1/retire", back="1")
    assert "This item is retired" not in ada.get("/items/1").text


def test_texts_of_others_are_escaped_everywhere(bare, ann):
    rows = [["<b>x</b>", "Topic"], ["<script>alert(1)</script>", "<i>T</i>"]]
    page = mapping(ann, workbook(rows), "<u>.xlsx")
    first = ann.get(page).text
    done = ann.post(page, **chosen("source", "phenomenon")).headers["location"]
    for text in (first, ann.get(done).text):
        assert "<script>alert" not in text
        assert "<i>T" not in text
        assert "<b>x" not in text
    assert "<script>alert" not in ann.get("/items").text
    assert "<script>alert" not in ann.get("/items/1").text


def test_pages_for_the_script_are_json(ada):
    assert ada.get("/suite").headers["content-type"].startswith("text/html")
    assert ada.client.post("/items/1/preview", data={}, headers=JSON).json()["preview"]
