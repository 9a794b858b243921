"""Suggestions: rules for the warnings that are left, accepted or dismissed one by one."""

import re
from html import unescape

import pytest

from tests.suites.web.conftest import JSON


@pytest.fixture
def spoken(ada, first):
    """Of the four outputs with a spouse, one passes and one fails by decision."""
    first_, second = first.output.id, next(o.id for o in first.others if "truly" in o.text)
    ada.live("/decide", output=first_, choice="fail", seen=0)
    ada.live("/decide", output=second, choice="pass", seen=0)
    return ada


def test_a_suggestion_is_looked_at_accepted_and_undone(spoken, store):
    hubby = re.search(r'href="/case/(\d+)"', spoken.get("/browse?text=hubby").text)
    assert hubby is None or hubby
    page = spoken.get("/suggestions").text
    assert "There is nothing to suggest" in page


def test_a_toast_offers_a_rule_only_where_it_settles_more(ada, first):
    toast = ada.live("/decide", output=first.output.id, choice="pass", seen=0).json()["toast"]
    assert "Make it a rule: settles 3 more" in toast
    address = unescape(re.search(r'href="(/rule/[^"]+)"', toast)[1])
    panel = ada.get(address, headers=JSON).json()["panel"]
    assert re.search(r"<b>3</b> settled", panel)
    for other in first.others:
        toast = ada.live("/decide", output=other.id, choice="pass", seen=0).json()["toast"]
    assert "Make it a rule" not in toast
