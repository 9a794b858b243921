"""The rules page: what rules do, and changes that are shown before they are saved."""

import re

import pytest

from assay.suites.store.queue import case
from assay.suites.store.rules import RuleFilters, find_rules


def number(store, name):
    """The number of the rule with this name."""
    with store.read() as connection:
        found = find_rules(connection, RuleFilters(state="all"), limit=100)
    return next(rule.id for rule in found.rules if rule.rule.id == name)


def verdict(store, text):
    with store.read() as connection:
        found = connection.exec_driver_sql(f"SELECT id FROM outputs WHERE text = '{text}'")
        return case(connection, found.scalar_one()).output.verdict


def test_the_list_says_what_each_rule_does(ada):
    page = ada.get("/rules?item=m2").text
    assert re.search(r"<h1>Rules</h1>", page)
    assert "2 rules, 1 to 2" in page
    assert "settles <b>1 output</b>" in page
    assert "matches 2 of 4" in page
    assert "&lt; 1 ms" in page
    assert "&lt;u&gt;never&lt;/u&gt;" in ada.get("/rules?state=unmatched").text
    assert "No rule matches" in ada.get("/rules?text=zebra").text
    assert ada.get("/rules?state=odd").status_code == 400


def test_the_list_goes_page_by_page(ada, monkeypatch):
    monkeypatch.setattr("assay.suites.web.rules.STEP", 2)
    first = ada.get("/rules?kind=regex").text
    following = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    assert "4 rules, 3 to 4" in ada.get(following).text


def test_the_effect_is_shown_before_anything_is_saved(store, ada):
    rule = number(store, "m2+1")
    page = ada.get(f"/rules/{rule}?act=edit+rule&polarity=positive&kind=fixed&text=hubby").text
    assert "Save the new version" in page
    assert re.search(r"<bdi>alpha</bdi>", page)
    assert verdict(store, "Her husband came.") == "pass"
    shown = ada.live(
        f"/rules/{rule}/effect", act="edit rule", polarity="positive", kind="regex", text="("
    ).json()["preview"]
    assert 'class="trouble"' in shown
    assert "Save" not in shown


def test_a_rule_is_edited_retired_restored_and_each_is_undone(store, ada):
    rule = number(store, "m2+1")
    edit = {"act": "edit rule", "polarity": "positive", "kind": "fixed", "text": "hubby"}
    answer = ada.post(f"/rules/{rule}", **edit)
    assert answer.status_code == 303
    assert verdict(store, "Her hubby came.") == "pass"
    page = ada.get(answer.headers["location"]).text
    assert "changed a rule of m2" in page
    change = re.search(r'name="change" value="(\d+)"', page)[1]
    ada.post("/undo", change=change)
    assert verdict(store, "Her hubby came.") == "warning"
    ada.post(f"/rules/{rule}", act="retire")
    assert verdict(store, "Her husband came.") == "warning"
    assert "Restore the rule" in ada.get(f"/rules/{rule}").text
    ada.post(f"/rules/{rule}", act="restore")
    assert verdict(store, "Her husband came.") == "pass"
    past = ada.get("/history").text
    assert "retired a rule of m2" in past
    assert "restored a rule of m2" in past


def test_others_look_at_rules_that_only_a_lead_changes(store, ada, ben):
    rule = number(store, "m2+1")
    assert "only a lead can change it" in ben.get(f"/rules/{rule}?act=retire").text
    assert "Retire the rule" not in ben.get(f"/rules/{rule}?act=retire").text
    assert ben.post(f"/rules/{rule}", act="retire").status_code == 400
    assert verdict(store, "Her husband came.") == "pass"


@pytest.mark.parametrize("path", ["/rules/4711", "/rules/x"])
def test_a_rule_that_is_not_there_gives_a_page_that_says_so(ada, path):
    assert ada.get(path).status_code in (400, 404)
