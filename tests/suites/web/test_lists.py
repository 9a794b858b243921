"""Browsing, disputes, the team and the history."""

import re
from html import unescape

import pytest

from assay.suites.store.dealing import shares
from assay.suites.store.history import history
from assay.suites.store.people import person_named
from assay.suites.store.queue import case
from tests.suites.web.conftest import Visitor
from tests.suites.web.hubby import NASTY


def decide(visitor, output, choice, seen=0):
    return visitor.live("/decide", output=output, choice=choice, seen=seen)


def found(page):
    texts = re.findall(r'class="found-output"[^>]*>(.*?)</p>', page, re.DOTALL)
    return [unescape(text) for text in texts]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("text=hubby", ["Her hubby came."]),
        ("text=HUBBY", ["Her hubby came."]),
        ("verdict=pass", ["Her husband came."]),
        ("verdict=fail", ["Her man came."]),
        (
            "system=epsilon&category=Ambiguity&verdict=warning&text=old",
            ["Her old man, her husband, came."],
        ),
        ("category=%3Cb%3EMarkup%3C%2Fb%3E", [NASTY, "All is text."]),
        ("phenomenon=Script+%26+style&text=all is", ["All is text."]),
        ("verdict=disputed", []),
        ("text=%25", []),
    ],
)
def test_browsing_finds_what_fits_the_filters(ada, query, texts):
    assert found(ada.get(f"/browse?{query}").text) == texts


def test_browsing_says_who_or_which_rule_decided(store, ada, first):
    decide(ada, first.output.id, "pass")
    by_rule = ada.get("/browse?verdict=fail").text
    assert "by a rule: " in by_rule
    assert "m2-1" not in by_rule
    assert r'<code dir="auto">\bm[ae]n\b</code>' in by_rule
    by_person = ada.get("/browse?text=She loves her spouse").text
    assert " · by <bdi>Ada</bdi>" in by_person
    assert "by a rule" not in by_person


def test_browsing_goes_page_by_page(ada, monkeypatch):
    from assay.suites.web import browse

    monkeypatch.setattr(browse, "STEP", 3)
    seen, path = [], "/browse?verdict=warning"
    while path:
        page = ada.get(path).text
        seen += found(page)
        link = re.search(r'rel="next" href="([^"]+)"', page)
        path = unescape(link[1]) if link else ""
    assert len(seen) == len(set(seen)) == 8


def test_a_dispute_shows_every_word_and_can_be_decided(store, app, ada, ben, first):
    output = first.output.id
    decide(ada, output, "pass")
    decide(ben, output, "fail")
    page = ada.get("/disputes").text
    assert re.search(r"<b[^>]*>Ada</b>\s*<span class=\"badge pass\"", page)
    assert re.search(r"<b[^>]*>Ben</b>\s*<span class=\"badge fail\"", page)
    assert "You are one of those who disagree" in page
    assert 'name="adjudication"' not in page
    cleo = Visitor(app)
    cleo.enter("Cleo")
    seen = re.search(r'name="seen" value="(\d+)"', cleo.get("/disputes").text)[1]
    said = {"output": output, "choice": "fail", "seen": seen, "adjudication": "1"}
    assert "you are one of those who disagree" in ada.post("/decide", **said).text
    answer = cleo.post("/decide", **said)
    assert answer.headers["location"].startswith("/disputes")
    page = cleo.get(answer.headers["location"]).text
    assert "There are no disputes." in page
    with store.read() as connection:
        settled = case(connection, output).output
    assert (settled.verdict, settled.disputed) == ("fail", False)


def test_the_history_shows_everything_and_undoes_ones_own(store, ada, ben, first):
    decide(ada, first.output.id, "pass")
    decide(ben, first.others[0].id, "fail")
    page = ada.get("/history").text
    assert page.count('class="past-head"') == 2
    assert page.count(first.item.source) == 2
    assert first.output.text in page
    changes = re.findall(r'name="change" value="(\d+)"', page)
    assert len(changes) == 1
    assert ada.get("/history?person=Ben").text.count('class="past-head"') == 1
    assert "Nothing fits." in ada.get("/history?person=Nobody").text
    assert "Nothing fits." in ada.get("/history?item=m2").text
    assert "Nothing fits." in ada.get("/history?kind=rule").text
    assert "Nothing fits." in ada.get("/history?until=2000-01-01").text
    assert ada.get("/history?since=2000-01-01&kind=decision").text.count("past-head") == 2
    assert ada.get("/history?since=yesterday").status_code == 400
    ada.get("/history")
    answer = ada.post("/undo", change=changes[0], after="/history")
    assert answer.headers["location"] == "/history"
    assert 'class="card undone"' in ada.get("/history").text
    with store.read() as connection:
        assert case(connection, first.output.id).output.verdict == "warning"


def test_the_history_goes_page_by_page(ada, first, monkeypatch):
    from assay.suites.web import history

    monkeypatch.setattr(history, "STEP", 2)
    for seen in range(5):
        decide(ada, first.output.id, "pass" if seen % 2 else "fail", seen)
    rows, path = 0, "/history"
    while path:
        page = ada.get(path).text
        rows += page.count('class="past-head"')
        link = re.search(r'rel="next" href="([^"]+)"', page)
        path = unescape(link[1]) if link else ""
    assert rows == 5


def test_the_work_is_divided_after_a_look_at_what_will_change(store, ada, ben):
    fields = {"name-1": "Ada", "weight-1": "1", "name-2": "Ben", "weight-2": "0"}
    more = {"name-3": "Cleo", "weight-3": "2", "double": "100", "do": "plan"}
    page = ada.post("/deal", **fields, **more).text
    assert "16 judgements are still to be made; 8 outputs are judged by two people" in page
    with store.read() as connection:
        assert shares(connection) == []
        assert person_named(connection, "Cleo") is None
    assert "new here" in page
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
    answer = ada.post("/deal", **hidden, do="apply")
    with store.read() as connection:
        given = {each.person: each for each in shares(connection)}
    assert given["Ada"].doubled == given["Ada"].outputs == given["Cleo"].outputs == 8
    assert "Ben" not in given
    page = ada.get(answer.headers["location"]).text
    assert "You dealt 16 judgements to Ada, Cleo" in page
    assert "0 of 8" in page
    # The weights and the share judged twice are as they were.
    assert re.findall(r'name="weight-\d" value="([^"]+)"', page) == ["1", "0", "2", "1"]
    assert 'name="double" value="100"' in page
    change = re.search(r'name="change" value="(\d+)"', page)[1]
    assert "what is open is for whoever comes first" in ada.post("/deal", do="clear").text
    assert ada.post("/deal", do="clear now").status_code == 303
    assert "no share yet" in ada.get("/team").text
    assert ada.post("/undo", change=change, after="/team").headers["location"] == "/team"


def test_two_people_who_judge_the_same_are_told_that_nobody_can_decide_between_them(ada, ben):
    fields = {"name-1": "Ada", "weight-1": "1", "name-2": "Ben", "weight-2": "1", "do": "plan"}
    told = "Ada and Ben would judge the same outputs, and nobody else is here"
    assert told in ada.post("/deal", **fields, double="100").text
    assert told not in ada.post("/deal", **fields, double="0").text
    third = {"name-3": "Cleo", "weight-3": "0", "double": "100"}
    assert told not in ada.post("/deal", **fields, **third).text


def test_a_plan_is_used_once_and_shown_anew_where_it_is_gone(store, ada):
    fields = {"name-1": "Ada", "weight-1": "1", "double": "0"}
    page = ada.post("/deal", **fields, do="plan").text
    plan = re.search(r'name="plan" value="([^"]+)"', page)[1]
    assert ada.post("/deal", **fields, plan=plan, do="apply").status_code == 303
    for gone in (plan, "never", ""):
        again = ada.post("/deal", **fields, plan=gone, do="apply")
        assert "was used already, or is not kept any more" in again.text
        assert "Nothing changes: everybody has what they should have." in again.text
    with store.read() as connection:
        assert [entry.kind for entry in history(connection)] == ["deal"]


def test_only_leads_divide_the_work(ada, ben):
    answer = ben.post("/deal", do="clear now")
    assert answer.status_code == 403
    assert "Ada" in answer.text
    assert "Divide the work" not in ben.get("/team").text


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name-1": "Ada", "weight-1": "0"}, "Nobody has a weight above 0"),
        ({"name-1": "Ada", "weight-1": "nan"}, "a number from 0 to 100"),
        ({"name-1": "Ada", "weight-1": "1", "double": "-1"}, "from 0 to 100"),
    ],
)
def test_shares_that_make_no_sense_are_refused(ada, fields, error):
    answer = ada.post("/deal", **fields, do="plan")
    assert answer.status_code == 400
    assert error in answer.text


def test_undoing_on_the_page_of_disputes_stays_there(app, store, ada, ben, first):
    decide(ada, first.output.id, "pass")
    decide(ben, first.output.id, "fail")
    cleo = Visitor(app)
    cleo.enter("Cleo")
    said = {"output": first.output.id, "choice": "fail", "seen": 2, "adjudication": "1"}
    page = cleo.get(cleo.post("/decide", **said).headers["location"]).text
    toast = page[page.index('id="toast"') :]
    assert "data-live" not in toast
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', toast))
    assert 'data-key="u"' in toast
    answer = cleo.post("/undo", **hidden)
    assert answer.headers["location"] == "/disputes"
    with store.read() as connection:
        assert case(connection, first.output.id).output.disputed


def test_with_accounts_the_team_page_makes_no_new_people(guarded, store):
    from assay.suites.store.people import add_person, person_named

    with store.write() as connection:
        add_person(connection, "Cleo", "correct horse battery")
    cleo = Visitor(guarded)
    cleo.enter("Cleo", password="correct horse battery")
    answer = cleo.post("/deal", **{"name-1": "Mallory", "weight-1": "1", "do": "plan"})
    assert answer.status_code == 400
    with store.read() as connection:
        assert person_named(connection, "Mallory") is None
