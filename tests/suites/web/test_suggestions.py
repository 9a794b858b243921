"""Suggestions: rules for the warnings that are left, accepted or dismissed one by one."""

import re
from html import unescape

import pytest

from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store.queue import case
from assay.suites.store.runs import save_run
from tests.suites.web.conftest import JSON


def verdicts(store, outputs):
    with store.read() as connection:
        return [case(connection, output).output.verdict for output in outputs]


@pytest.fixture
def told(store, ada, first):
    """One output with a spouse passes by decision, and one without fails."""
    with store.write() as connection:
        save_run(connection, Run("zeta", {"m1": "She loves a stranger."}), Checker())
    ada.live("/decide", output=first.output.id, choice="pass", seen=0)
    stranger = re.search(r'href="/case/(\d+)', ada.get("/browse?text=stranger").text)[1]
    ada.live("/decide", output=stranger, choice="fail", seen=0)
    return [output.id for output in first.others]


def test_a_suggestion_is_accepted_by_way_of_its_preview(store, ada, told):
    page = ada.get("/suggestions").text
    assert "settles <b>3 outputs</b>" in page
    assert '<mark class="good">spouse</mark>' in page
    address = unescape(re.search(r'href="(/rule/[^"]+)"', page)[1])
    panel = ada.get(address, headers=JSON).json()["panel"]
    assert re.search(r"<b>3</b> settled", panel)
    assert verdicts(store, told) == ["warning"] * 3
    fields = {"polarity": "positive", "kind": "fixed", "text": "spouse", "scope": "item"}
    path = address.split("?")[0]
    reply = ada.live(path, **fields, after="/suggestions").json()
    assert re.fullmatch(r"/suggestions\?last=\d+", reply["go"])
    assert "You added a rule: positive" in ada.get(reply["go"]).text
    assert verdicts(store, told) == ["pass"] * 3
    assert "There is nothing to suggest" in ada.get(reply["go"]).text
    ada.post("/undo")
    assert "settles <b>3 outputs</b>" in ada.get("/suggestions").text


def test_what_is_dismissed_is_not_offered_until_it_is_asked_for(ada, told):
    page = ada.get("/suggestions").text
    keys = re.findall(r'name="key" value="([^"]+)"', page)
    for key in keys:
        ada.post("/suggestions", key=key)
    page = ada.get("/suggestions").text
    assert 'name="key"' not in page
    ada.post("/suggestions")
    assert re.findall(r'name="key" value="([^"]+)"', ada.get("/suggestions").text) == keys


def test_what_contradicts_a_person_is_not_suggested(ada, ben, told):
    ben.live("/decide", output=told[0], choice="fail", seen=0)
    page = ada.get("/suggestions").text
    assert '<mark class="good">spouse</mark>' not in page


def test_a_rule_of_another_item_of_the_phenomenon_is_suggested(store, ada):
    with store.write() as connection:
        save_run(connection, Run("zeta", {"s1": "All is <u>never</u>."}), Checker())
    assert "a rule of another item" not in ada.get("/suggestions").text
    output = re.search(r'href="/case/(\d+)', ada.get("/browse?text=hubby").text)[1]
    fields = {"polarity": "positive", "kind": "fixed", "text": "er", "scope": "item"}
    ada.live(f"/rule/{output}", **fields)
    page = ada.get("/suggestions").text
    assert "a rule of another item" in page
    assert "settles <b>4 outputs</b>" in page


def test_a_toast_offers_a_rule_only_where_it_settles_more(ada, first):
    toast = ada.live("/decide", output=first.output.id, choice="pass", seen=0).json()["toast"]
    more = re.search(r"Make it a rule: settles (\d) more", toast)[1]
    address = unescape(re.search(r'href="(/rule/[^"]+)"', toast)[1])
    panel = ada.get(address, headers=JSON).json()["panel"]
    assert re.search(rf"<b>{more}</b> settled", panel)
    for other in first.others:
        toast = ada.live("/decide", output=other.id, choice="pass", seen=0).json()["toast"]
    assert "Make it a rule" not in toast


def test_names_of_systems_are_hidden_where_somebody_wants_it(ada, first):
    number = first.output.id
    answer = ada.post("/names", names="hidden", after=f"/case/{number}")
    # A strict one would not come along where a link of another website leads here.
    assert "SameSite=lax" in answer.headers["set-cookie"]
    assert answer.headers["location"] == f"/case/{number}"
    address = f"/rule/{number}?text=spouse&polarity=positive"
    shown = [
        ada.get(f"/case/{number}").text.split('class="case"')[1],
        ada.get(f"/case/{number}", headers=JSON).json()["main"].split('class="case"')[1],
        ada.get(address, headers=JSON).json()["panel"],
    ]
    for html in shown:
        assert not re.search("alpha|beta|gamma|delta|epsilon", html)
    assert "system 1" in shown[0]
    ada.post("/names", names="shown", after="/resolve")
    assert "alpha" in ada.get(f"/case/{number}").text.split('class="case"')[1]


def test_differences_are_told_against_the_chosen_output(ada, first):
    other = next(output for output in first.others if "truly" in output.text)
    texts = ada.get(f"/case/{other.id}/differences", headers=JSON).json()["texts"]
    assert texts[str(other.id)] == "She truly loves her spouse."
    assert 'title="missing here: truly"' in texts[str(first.output.id)]
