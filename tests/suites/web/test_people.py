"""Leads look after people; everybody else is told who the leads are."""

import re

import pytest

from assay.suites.store import people
from assay.suites.store.history import history
from assay.suites.store.people import add_person, appoint, invite, person_named
from tests.suites.web.conftest import Visitor

ACTS = (
    ("/people/lead", {"person": "2", "lead": "yes"}),
    ("/people/invite", {"name": "Eve"}),
    ("/people/rename", {"person": "1", "name": "Eve"}),
    ("/people/merge", {"person": "1", "into": "2", "sure": "1"}),
)


@pytest.mark.parametrize(("path", "fields"), ACTS)
def test_only_leads_may_do_this(ada, ben, path, fields):
    answer = ben.live(path, **fields)
    assert answer.status_code == 403
    assert "Only a lead may do this. Ask one of the leads: Ada." in answer.json()["error"]
    assert "Make lead" not in ben.get("/people").text
    assert "Make lead" in ada.get("/people").text


def test_leads_name_others_but_the_last_one_stays(ada, ben):
    assert "the only lead" in ada.post("/people/lead", person="1", lead="no").text
    assert ada.post("/people/lead", person="2", lead="yes").status_code == 303
    assert ben.post("/people/lead", person="1", lead="no").status_code == 303
    assert ada.post("/people/lead", person="2", lead="no").status_code == 403


def test_people_are_renamed_and_merged_after_a_look(store, ada, ben):
    assert ada.post("/people/rename", person="2", name="Benno").status_code == 303
    assert "Benno" in ben.get("/resolve").text
    asked = ada.post("/people/merge", person="2", into="1")
    assert "This becomes the work of" in asked.text
    assert "cannot be undone" in asked.text
    with store.read() as connection:
        assert person_named(connection, "Benno")
    assert ada.post("/people/merge", person="2", into="1", sure="1").status_code == 303
    assert "not there any more" in ada.post("/people/merge", person="2", into="1", sure="1").text
    with store.read() as connection:
        kinds = [entry.kind for entry in history(connection)]
    assert kinds == ["merge", "rename"]
    assert 'title="Your account"><bdi>Ada</bdi>' in ben.get("/resolve").text


def test_the_history_tells_of_people_and_a_lead_takes_it_back(ada, ben):
    ada.post("/people/rename", person="2", name="<b>Benno</b>")
    ada.post("/people/lead", person="2", lead="yes")
    ada.post("/suite", name="mine", languages="")
    ada.post("/people/lead", person="1", lead="no")
    mine, theirs = ada.get("/history").text, ben.get("/history").text
    for told in (
        "renamed Ben to &lt;b&gt;Benno&lt;/b&gt;",
        "made &lt;b&gt;Benno&lt;/b&gt; a lead",
        "changed the suite: name &#39;hubby&#39; is now &#39;mine&#39;",
        "ended Ada&#39;s role as a lead",
    ):
        assert told in mine
        assert told in theirs
    assert 'action="/undo"' not in mine  # she leads no longer
    numbers = re.findall(r'name="change" value="(\d+)"', theirs)
    assert len(numbers) == 4
    assert ada.post("/undo", change=numbers[0]).status_code == 400
    for change in (numbers[0], numbers[1], numbers[3]):
        assert ben.post("/undo", change=change, after="/history").status_code == 303
    page = ada.get("/people").text
    assert "Benno" not in page
    assert page.count("No longer lead") == 4  # twice each, for both: on the button and in its name
    assert "<title>hubby" in ada.get("/suite").text
    assert "made Ben a lead" in ada.get("/download/history.csv").text.replace("<b>Benno</b>", "Ben")


def test_others_write_while_a_password_is_hashed(guarded, store, monkeypatch):
    with store.write() as connection:
        secret = invite(connection, "Ada")
    ada = Visitor(guarded)
    ada.post("/invite", secret=secret)
    hashed = people.hashed_password

    def hash_while_others_write(password):
        with store.write() as connection:
            add_person(connection, "Ben")
        return hashed(password)

    monkeypatch.setattr(people, "hashed_password", hash_while_others_write)
    answer = ada.post("/account", password="correct horse", again="correct horse")
    assert answer.headers["location"] == "/account?done=1"
    with store.read() as connection:
        assert people.check_password(connection, "Ada", "correct horse")
        assert person_named(connection, "Ben")


def test_a_lead_makes_one_time_links_in_the_page(guarded, store):
    with store.write() as connection:
        appoint(connection, add_person(connection, "Ada").id)
        secret = invite(connection, "Ada")
    ada, eve = Visitor(guarded), Visitor(guarded)
    ada.post("/invite", secret=secret)
    assert "a name has" in ada.post("/people/invite", name=" ").text
    shown = ada.post("/people/invite", name=" Eve ").text
    (link,) = re.findall(r'value="http://127.0.0.1:8000/invite/([\w-]+)"', shown)
    assert link not in ada.get("/people").text
    assert eve.post("/invite", secret=link).headers["location"] == "/account"
    assert "judges" in eve.get("/people").text
