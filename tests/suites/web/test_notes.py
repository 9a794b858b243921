"""Notes on the pages, and pages that tell the second judge nothing."""

import re

import numpy as np
import pytest

from assay.suites.store.dealing import assign
from assay.suites.store.notes import load_notes
from tests.suites.web.conftest import JSON


def note(visitor, case, **fields):
    told = {"output": case.output.id, "item": case.item.id, "about": "output", "after": "/browse"}
    return visitor.post("/note", **told | fields)


def test_a_note_is_written_shown_found_and_removed(store, ada, ben, first):
    answer = note(ada, first, flag="unsure", text="<b>which</b> one?")
    assert answer.headers["location"] == "/browse"
    for path in (f"/case/{first.output.id}", "/browse?flag=unsure", "/history?kind=note"):
        page = ben.get(path).text
        assert "&lt;b&gt;which&lt;/b&gt; one?" in page
        assert "Ada" in page
    assert "No output matches." in ben.get("/browse?flag=bad+item").text
    with store.read() as connection:
        (kept,) = load_notes(connection, [first.output.id])[first.output.id]
    assert "Remove the note" not in ben.get(f"/case/{first.output.id}").text
    assert ben.post("/note/remove", note=kept.id).status_code == 400
    assert ada.post("/note/remove", note=kept.id).status_code == 303
    assert "No output matches." in ben.get("/browse?flag=unsure").text


def test_notes_say_whether_they_are_on_the_output_that_is_chosen(store, ada, first):
    note(ada, first, text="odd")
    other = first.others[0].id
    for chosen, here in ((first.output.id, True), (other, False)):
        page = ada.get(f"/case/{chosen}").text
        assert f'<li data-about="{first.output.id}">' in page
        assert ('class="on-this">' in page) is here
        assert ('class="on-other">' in page) is not here


def test_a_note_that_is_sent_again_is_kept_once(store, ada, first):
    page = ada.get(f"/case/{first.output.id}").text
    key = re.search(r'action="/note">\n<input type="hidden" name="key" value="([^"]+)"', page)[1]
    for _ in range(2):
        assert note(ada, first, text="twice?", key=key).status_code == 303
    with store.read() as connection:
        assert len(load_notes(connection, [first.output.id])[first.output.id]) == 1


def test_warnings_are_resolved_by_flag_with_counts(ada, first):
    note(ada, first, flag="unsure")
    page = ada.get("/resolve?flag=unsure").text
    assert first.output.text in page
    assert "flag: unsure (1)" in page
    assert "No warnings here" in ada.get("/resolve?flag=bad+item").text


def test_counts_of_filters_are_right_or_not_there(ada, first):
    """A whole page has them, the answer to a decision has none, and the script asks for them."""
    page = ada.get("/resolve?category=Ambiguity").text
    assert "Ambiguity (6)" in page
    assert "data-counts" not in page
    fields = {"output": first.output.id, "choice": "pass", "seen": 0, "back": "category=Ambiguity"}
    main = ada.live("/decide", **fields).json()["main"]
    assert 'data-counts="category=Ambiguity"' in main
    assert "Ambiguity (" not in main
    asked = ada.get("/resolve/counts?category=Ambiguity", headers=JSON).json()["filters"]
    assert "Ambiguity (5)" in asked
    assert '<option value="Ambiguity" selected>' in asked
    assert "Ambiguity (5)" in ada.get(f"/case/{first.output.id}?category=Ambiguity").text


def test_an_empty_note_is_refused(ada, first):
    answer = note(ada, first, text=" ")
    assert answer.status_code == 400
    assert "The note is empty" in answer.text


@pytest.fixture
def doubled(store, ada, ben, first):
    """Ada and Ben judge all; Ada has said fail of the first output, and why."""
    with store.write() as connection:
        weights = {"Ada": 1, "Ben": 1}
        assign(connection, 1, weights, double=1, rng=np.random.default_rng(1))
    ada.live("/decide", output=first.output.id, choice="fail", seen=0)
    note(ada, first, text="a telling remark")
    return first


PAGES = (
    "/resolve",
    "/case/{}",
    "/resolve?met={}",
    "/browse",
    "/browse?text=spouse",
    "/browse?person=Ada",
    "/browse?verdict=fail",
    "/disputes",
    "/history",
    "/history?person=Ada",
    "/history?item=m1",
    "/team",
)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_tells_the_second_judge_the_first_verdict(doubled, ada, ben, path):
    page = ben.get(path.format(doubled.output.id)).text
    assert "a telling remark" not in page
    assert not re.search(r"Ada</b[^>]*>.{0,40}said fail|Ada said fail|by <bdi>Ada", page, re.S)
    if path.startswith("/browse"):
        assert "Ada (1)" not in page
        assert "fail (2)" not in page
    if path in ("/browse?person=Ada", "/browse?verdict=fail"):
        assert doubled.output.text not in page
    if path.startswith("/history"):
        assert "said fail" not in page


def test_the_first_judge_sees_what_she_said(doubled, ada):
    assert doubled.output.text in ada.get("/browse?verdict=fail&person=Ada").text
    assert "said fail" in ada.get("/history").text
    assert "a telling remark" in ada.get(f"/case/{doubled.output.id}").text


def test_a_draft_of_a_rule_tells_the_second_judge_nothing(doubled, ada, ben):
    told = {"polarity": "positive", "kind": "fixed", "text": "spouse", "scope": "item"}
    path = f"/rule/{doubled.output.id}/preview"
    assert "against what people decided" in ada.post(path, **told).text
    page = ben.post(path, **told).text
    assert "against what people decided" not in page
    assert "said fail" not in page


def test_the_report_tells_a_lead_nothing_who_is_to_judge_second(doubled, ada, ben):
    before = ada.get("/report?policy=fail").text
    other = doubled.others[0].id
    ben.live("/decide", output=other, choice="pass", seen=0)
    assert ada.get("/report?policy=fail").text == before
    assert ben.get("/report?policy=fail").text != before
    ada.live("/decide", output=other, choice="pass", seen=1)
    assert ada.get("/report?policy=fail").text != before


def test_the_page_of_an_item_tells_a_lead_nothing_who_is_to_judge_second(doubled, ada, ben):
    other = doubled.others[0].id
    ben.live("/decide", output=other, choice="fail", seen=0)
    assert "<bdi>Ben</bdi> said fail" not in ada.get("/items/1").text
    ada.live("/decide", output=other, choice="fail", seen=1)
    assert "<bdi>Ben</bdi> said fail" in ada.get("/items/1").text
