"""Names, passwords, links that work once, and logins that end."""

from datetime import timedelta

import pytest

from assay.data import DataError
from assay.suites.store.people import (
    add_person,
    all_people,
    appoint,
    check_password,
    dismiss,
    hashed_password,
    invite,
    leads,
    log_in,
    log_out,
    log_out_everywhere,
    login,
    person_named,
    person_numbered,
    redeem,
    set_password,
)
from assay.suites.store.records import Person
from tests.suites.store.samples import rows

PAST = timedelta(seconds=-1)


@pytest.fixture
def conn(store):
    with store.write() as conn:
        yield conn


def test_people_are_found_by_name_and_number(conn):
    ann = add_person(conn, "  Ann \t Lee ")
    zoe = add_person(conn, "Zoe\u0308")
    assert ann == Person(ann.id, "Ann Lee", has_password=False, lead=True)
    assert person_named(conn, "Ann  Lee") == person_numbered(conn, ann.id) == ann
    assert person_named(conn, "Zo\xeb") == zoe
    assert person_named(conn, "ann lee") is None
    assert person_named(conn, "a\0") is None
    assert person_numbered(conn, 99) is None
    assert all_people(conn) == [ann, zoe]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\0b", "\u202eevil", "\ud800"])
def test_names_that_cannot_be_shown_are_refused(conn, name):
    with pytest.raises(DataError):
        add_person(conn, name)


def test_a_name_is_given_once(conn):
    add_person(conn, "Ann")
    with pytest.raises(DataError, match="somebody is called 'Ann' already"):
        add_person(conn, " Ann")


def test_only_the_right_password_opens(conn):
    ann = add_person(conn, "Ann", "correct horse")
    add_person(conn, "Ben")
    assert ann.has_password
    assert check_password(conn, "Ann", "correct horse") == ann
    for name, password in [
        ("Ann", "correct hors"),
        ("Ann", ""),
        ("Ben", ""),
        ("Ben", "correct horse"),
        ("Nobody", "correct horse"),
        ("Ann", "correct horse" + "\0"),
        ("Ann", "\ud800"),
    ]:
        assert check_password(conn, name, password) is None
    set_password(conn, ann.id, hashed_password("another one"))
    assert check_password(conn, "Ann", "correct horse") is None
    assert check_password(conn, "Ann", "another one") == ann


def test_passwords_are_kept_as_salted_hashes(store):
    with store.write() as conn:
        for name in ("Ann", "Ben"):
            add_person(conn, name, "correct horse")
    (ann,), (ben,) = rows(store, "SELECT password FROM annotators")
    assert ann.startswith("scrypt$")
    assert ann != ben
    assert "horse" not in ann


@pytest.mark.parametrize("password", ["short", "x" * 1001])
def test_passwords_that_are_too_short_or_too_long_are_refused(conn, password):
    with pytest.raises(DataError, match="at least 8 characters"):
        add_person(conn, "Ann", password)


def test_a_link_invites_once(conn):
    secret = invite(conn, "Ann")
    assert redeem(conn, "wrong") is None
    assert redeem(conn, "\ud800") is None
    ann = redeem(conn, secret)
    assert ann == person_named(conn, "Ann")
    assert redeem(conn, secret) is None
    # A known name gets a new link.
    assert redeem(conn, invite(conn, "Ann")) == ann


def test_a_link_that_is_too_old_invites_nobody(conn):
    assert redeem(conn, invite(conn, "Ann", lasts=PAST)) is None


def test_a_login_lasts_until_it_is_over(conn):
    ann = add_person(conn, "Ann")
    first, second = log_in(conn, ann.id), log_in(conn, ann.id)
    assert first != second
    assert login(conn, first) == login(conn, second) == ann
    log_out(conn, first)
    assert login(conn, first) is None
    assert login(conn, second) == ann
    log_out_everywhere(conn, ann.id)
    assert login(conn, second) is None


def test_old_logins_are_no_logins_and_are_swept_out(store):
    with store.write() as conn:
        ann = add_person(conn, "Ann").id
        old = log_in(conn, ann, lasts=PAST)
        assert login(conn, old) is None
        log_in(conn, ann)
    assert rows(store, "SELECT count(*) FROM logins") == [(1,)]


def test_the_database_holds_no_secret(store):
    with store.write() as conn:
        secrets = [invite(conn, "Ann"), log_in(conn, 1)]
    kept = rows(store, "SELECT digest FROM invitations UNION ALL SELECT digest FROM logins")
    assert len(kept) == 2
    assert not {row[0] for row in kept} & set(secrets)


def test_the_first_person_leads_and_leads_name_others(conn):
    ann, ben = add_person(conn, "Ann"), add_person(conn, "Ben")
    assert (ann.lead, ben.lead) == (True, False)
    with pytest.raises(DataError, match="the only lead"):
        dismiss(conn, ann.id)
    appoint(conn, ben.id)
    dismiss(conn, ann.id)
    assert [person.name for person in leads(conn)] == ["Ben"]
    with pytest.raises(DataError, match="the only lead"):
        dismiss(conn, ben.id)
