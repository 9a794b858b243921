"""Leads look after people; everybody else is told who the leads are."""

import re

import pytest

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
