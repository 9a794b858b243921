"""Rules from decisions: suggested, previewed and saved."""

import re

import pytest

from assay.suites.store.history import history
from assay.suites.store.queue import case
from tests.suites.web.conftest import JSON

SPOUSE = {"polarity": "positive", "kind": "fixed", "text": "spouse", "scope": "item"}


def verdicts(store, outputs):
    with store.read() as connection:
        return [case(connection, each).output.verdict for each in outputs]


@pytest.fixture
def spouses(first):
    """The numbers of the four outputs with a spouse."""
    return [first.output.id, *(each.id for each in first.others)]


def test_the_panel_is_filled_in_with_the_words_that_were_selected(ada, first):
    reply = ada.get(f"/rule/{first.output.id}?text=her spouse&polarity=negative", headers=JSON)
    panel = reply.json()["panel"]
    assert 'name="text" value="her spouse"' in panel
    assert re.search(r'value="negative" checked', panel)
    assert re.search(r'value="fixed" checked', panel)


def test_the_panel_is_filled_in_from_the_decision(ada, first):
    ada.live("/decide", output=first.output.id, choice="fail", seen=0)
    panel = ada.get(f"/rule/{first.output.id}", headers=JSON).json()["panel"]
    assert re.search(r'value="negative" checked', panel)
    assert "data-idea" in panel


def test_a_rule_that_is_sent_again_is_saved_once(store, ada, first, spouses):
    panel = ada.get(f"/rule/{first.output.id}", headers=JSON).json()["panel"]
    key = re.search(r'name="key" value="([^"]+)"', panel)[1]
    for _ in range(2):
        reply = ada.live(f"/rule/{first.output.id}", **SPOUSE, key=key)
        assert reply.status_code == 200
        assert "You added a rule: positive fixed &#39;spouse&#39;" in reply.json()["toast"]
    assert verdicts(store, spouses) == ["pass"] * 4
    with store.read() as connection:
        assert [entry.kind for entry in history(connection)] == ["rule"]
    assert "has this rule already" in ada.live(f"/rule/{first.output.id}", **SPOUSE).text


def test_the_preview_says_what_would_be_settled(ada, first):
    reply = ada.live(f"/rule/{first.output.id}/preview", **SPOUSE).json()
    assert re.search(r"<b>4</b> settled", reply["preview"])
    assert "this output and 3 others" in reply["preview"]
    assert reply["preview"].count('<mark class="good">spouse</mark>') == 4
    assert "contradicts no decision" in reply["preview"]


def test_the_preview_says_which_decisions_it_would_contradict(ada, ben, first):
    other = first.others[0].id
    ben.live("/decide", output=other, choice="fail", seen=0)
    shown = ada.live(f"/rule/{first.output.id}/preview", **SPOUSE).json()["preview"]
    assert re.search(r"<b>3</b> settled", shown)
    assert re.search(r"<b>1</b> against what people decided", shown)
    assert "<bdi>Ben</bdi> said fail" in shown


def test_a_saved_rule_settles_the_others_and_can_be_undone(store, ada, first, spouses):
    reply = ada.live(f"/rule/{first.output.id}", **SPOUSE).json()
    assert verdicts(store, spouses) == ["pass"] * 4
    assert "spouse" not in re.search(r'id="output"[^>]*>(.*?)</p>', reply["main"])[1]
    assert "Undo" in reply["toast"]
    ada.live("/undo")
    assert verdicts(store, spouses) == ["warning"] * 4


def test_without_script_a_rule_is_previewed_and_saved_too(store, ada, first, spouses):
    assert "New rule" in ada.get(f"/rule/{first.output.id}").text
    page = ada.post(f"/rule/{first.output.id}/preview", **SPOUSE).text
    assert re.search(r"<b>4</b> settled", page)
    assert verdicts(store, spouses) == ["warning"] * 4
    assert ada.post(f"/rule/{first.output.id}", **SPOUSE).status_code == 303
    assert verdicts(store, spouses) == ["pass"] * 4


@pytest.mark.parametrize("text", ["(", ""])
def test_a_pattern_that_does_not_work_is_explained_and_not_saved(store, ada, first, text):
    broken = SPOUSE | {"kind": "regex", "text": text}
    shown = ada.live(f"/rule/{first.output.id}/preview", **broken).json()["preview"]
    assert 'class="trouble"' in shown
    answer = ada.live(f"/rule/{first.output.id}", **broken)
    assert answer.status_code == 400
    assert 'class="trouble"' in answer.json()["panelError"]
    assert verdicts(store, [first.output.id]) == ["warning"]


def test_a_pattern_full_of_markup_is_text(ada, first):
    draft = SPOUSE | {"kind": "regex", "text": "(<img src=x onerror=alert(1)>"}
    shown = ada.live(f"/rule/{first.output.id}/preview", **draft).json()["preview"]
    assert "<img" not in shown
    assert "&lt;img" in shown


def test_a_rule_that_is_too_long_is_refused_before_it_is_compiled(ada, first):
    text = "|".join(f"word{number}" for number in range(400))
    fields = {"polarity": "positive", "kind": "regex", "scope": "item", "text": text}
    for path in (f"/rule/{first.output.id}", f"/rule/{first.output.id}/preview"):
        answer = ada.live(path, **fields)
        assert answer.status_code == 400
        assert "at most 2,000 characters" in answer.json()["error"]
