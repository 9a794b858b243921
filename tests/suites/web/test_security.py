"""Nobody gets in who should not, and nothing gets out that should not."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Annotated
from urllib.parse import quote

import pytest
from fastapi import Depends
from fastapi.routing import APIRoute

from assay.suites.store import people
from assay.suites.store.opening import Unavailable
from assay.suites.store.people import add_person, invite
from assay.suites.store.tables import leases, logins
from assay.suites.web import browse
from assay.suites.web.app import POLICY, ROUTED, make_app
from assay.suites.web.requests import Post, inside, lead_uploaded
from assay.suites.web.site import DEFAULT, Attempts, ServerSettings, keys_of
from tests.suites.web.conftest import HOME, JSON, TestClient, Visitor
from tests.suites.web.hubby import NASTY

LISTS = ("/browse", "/disputes", "/team", "/history")
PAGES = ("/resolve", *LISTS, "/account", "/case/{}", "/rule/{}")
PASSWORD = "correct horse battery"


@pytest.fixture
def cleo(store):
    """Somebody who has an account."""
    with store.write() as connection:
        return add_person(connection, "Cleo", PASSWORD)


@pytest.mark.parametrize("path", ["/login", "/nowhere", "/static/assay.css", "/resolve", "/case/x"])
def test_every_answer_has_the_headers(ada, path):
    headers = ada.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_kept_by_no_cache_and_have_no_inline_script_or_style(ada, first, path):
    answer = ada.get(path.format(first.output.id))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "style=" not in answer.text
    assert "<style" not in answer.text
    assert answer.text.count("<script") == answer.text.count('<script src="/static/')
    assert '<script src="/static/assay.js" type="module"></script>' in answer.text


@pytest.mark.parametrize("path", [*PAGES, "/", "/login"])
@pytest.mark.parametrize("token", ["", "wrong", "ä", "\ud800"])
def test_without_the_token_of_the_link_no_page_opens(app, ada, path, token):
    secret = ada.client.cookies["assay"]
    other = TestClient(app, base_url=HOME, follow_redirects=False, cookies={"assay": secret})
    for answer in (
        other.get(path.format(1)),
        other.get(f"{path.format(1)}?token={quote(token, errors='replace')}"),
        other.get(path.format(1), headers={"Cookie": f"assay={secret}; assay-token=x"}),
        other.post("/decide", data={"output": "1", "choice": "pass", "seen": "0"}),
    ):
        assert answer.status_code == 403
        assert "It stands in the terminal" in answer.text
        assert "Ada" not in answer.text


def test_the_token_in_the_address_becomes_a_cookie(app):
    stranger = TestClient(app, base_url=HOME, follow_redirects=False)
    answer = stranger.get("/browse", params={"token": DEFAULT.token, "text": "a b"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/browse?text=a+b"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=lax" in answer.headers["set-cookie"]
    assert stranger.get("/login").status_code == 200


def test_with_accounts_there_is_no_token(guarded):
    stranger = TestClient(guarded, base_url=HOME)
    assert stranger.get("/login").status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_is_sent_to_the_log_in(app, path):
    answer = Visitor(app).get(path.format(1))
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_a_script_without_a_login_is_told_so(app):
    assert Visitor(app).get("/resolve", headers=JSON).status_code == 401


def posts():
    return [
        route.path.replace("{output}", "1")
        for module in ROUTED
        for route in module.router.routes
        if isinstance(route, APIRoute) and "POST" in route.methods
    ]


FORGED = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": HOME},
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:8001"},
    {"Origin": "null"},
    {"Origin": ""},
)


def test_forms_on_pages_of_others_are_refused_everywhere(ada):
    paths = posts()
    assert {"/login", "/invite", "/decide", "/undo", "/rule/1", "/deal", "/logout"} <= set(paths)
    for path in paths:
        for headers in FORGED:
            assert ada.client.post(path, data={}, headers=headers).status_code == 403
    assert ada.get("/resolve").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": HOME},
        {"Sec-Fetch-Site": "none"},
        {"Origin": HOME},
        {"Origin": HOME.upper()},
        {},
    ],
)
def test_forms_on_pages_of_ours_are_answered(ada, headers):
    assert ada.client.post("/logout", headers=headers).status_code == 303


def test_links_from_other_websites_lead_here(ada):
    assert ada.get("/resolve", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "", "[::1", "a@b"])
def test_another_host_name_is_refused(ada, host):
    assert ada.get("/resolve", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(ada, host):
    assert ada.get("/login", headers={"Host": host}).status_code in (200, 303)


def test_a_page_without_accounts_does_not_answer_through_another_web_server(ada):
    assert ada.get("/resolve", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 403


def test_a_request_that_is_too_large_is_refused(ada):
    assert ada.post("/decide", output="x" * 300_000).status_code == 413


def test_a_request_that_hides_its_size_is_refused_too(ada):
    def chunks():
        for _ in range(40):
            yield b"x" * 10_000

    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert ada.client.post("/decide", content=chunks(), headers=kind).status_code == 413


def test_a_form_of_too_many_fields_or_with_files_is_refused(ada):
    assert ada.post("/decide", **{str(number): "" for number in range(6000)}).status_code == 400
    answer = ada.client.post("/decide", files={"file": ("a.csv", b"a,b")}, data={"output": "1"})
    assert answer.status_code == 400
    assert "Too many files" in answer.text


def test_a_route_can_take_files_of_leads_up_to_a_size_of_its_own(store):
    app = make_app(store)

    @app.post("/files")
    def files(post: Annotated[Post, Depends(lead_uploaded(1_000_000))]) -> dict[str, object]:
        (sent,) = post.form.files["file"]
        return {"name": sent.name, "size": len(sent.data), "text": post.form.text("text")}

    ada, more = Visitor(app), {"data": {"text": "ö"}, "headers": JSON}
    sent = {"file": ("ü.csv", b"x" * 500_000)}
    assert ada.client.post("/files", files=sent, **more).status_code == 401
    ada.enter("Ada")
    answer = ada.client.post("/files", files=sent, **more)
    assert answer.json() == {"name": "ü.csv", "size": 500_000, "text": "ö"}
    sent = {"file": ("ü.csv", b"x" * 1_000_000)}
    assert ada.client.post("/files", files=sent, **more).status_code == 413


def test_the_cookie_is_for_the_server_alone_and_its_secret_is_not_in_the_database(store, ada):
    cookie = ada.client.cookies["assay"]
    with store.read() as connection:
        (row,) = connection.execute(logins.select()).all()
    assert cookie not in map(str, row)
    ada.post("/logout")
    header = ada.enter("Ada").headers["set-cookie"]
    assert "HttpOnly" in header
    assert "SameSite=lax" in header
    assert "Secure" not in header


def test_the_cookie_is_secure_under_https(guarded, cleo):
    visitor = Visitor(guarded)
    visitor.client.base_url = "https://suite.example"
    header = visitor.enter("Cleo", password=PASSWORD).headers["set-cookie"]
    assert "Secure" in header


def test_after_the_log_out_the_login_is_worth_nothing(ada):
    secret = ada.client.cookies["assay"]
    assert ada.post("/logout").status_code == 303
    ada.client.cookies.set("assay", secret)
    assert ada.get("/resolve").status_code == 303


def test_without_an_account_nobody_gets_in(guarded, store, cleo):
    visitor = Visitor(guarded)
    for name, password in (("Ada", ""), ("Cleo", ""), ("Cleo", "wrong"), ("", ""), (NASTY, NASTY)):
        answer = visitor.enter(name, password=password)
        assert answer.status_code == 403
        assert "The name or the password is wrong." in answer.text
        assert "<script>document" not in answer.text
    assert visitor.get("/resolve").status_code == 303
    assert visitor.enter("Cleo", password=PASSWORD).headers["location"] == "/resolve"
    assert visitor.get("/resolve").status_code == 200


def test_a_name_without_letters_is_refused(app):
    answer = Visitor(app).enter("   ")
    assert answer.status_code == 403
    assert "a name has" in answer.text


def test_log_ins_are_limited(guarded, cleo):
    visitor = Visitor(guarded)
    for _ in range(10):
        assert visitor.enter("Cleo", password="guess").status_code == 403
    answer = visitor.enter("Cleo", password=PASSWORD)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0


def test_attempts_are_forgotten_after_a_while():
    clock = [0.0]
    attempts = Attempts(window=60, clock=lambda: clock[0])
    for second in range(10):
        clock[0] = second
        assert attempts.begin(*keys_of("ADA", "there")) == 0
    assert attempts.begin(*keys_of("Ada", "there")) == 60 - 9
    assert attempts.begin(*keys_of("Ada", "elsewhere")) == 0
    assert attempts.begin(*keys_of("Ben", "there")) == 0
    clock[0] = 60
    assert attempts.begin(*keys_of("Ada", "there")) == 0


def test_a_try_that_succeeds_is_not_counted():
    attempts = Attempts(clock=lambda: 0)
    for _ in range(100):
        assert attempts.begin(*keys_of("Ada", "there")) == 0
        attempts.succeeded(*keys_of("Ada", "there"))


def test_many_names_from_one_address_and_one_name_from_many_addresses_are_limited_too():
    attempts = Attempts(clock=lambda: 0)
    for number in range(50):
        attempts.begin(*keys_of(f"name {number}", "there"))
        attempts.begin(*keys_of("Ada", f"place {number}"))
    assert attempts.begin(*keys_of("somebody", "there")) == 300
    assert attempts.begin(*keys_of("Ada", "anywhere")) == 300
    assert attempts.begin(*keys_of("somebody", "anywhere")) == 0


def test_strangers_lock_a_name_for_strangers_only(guarded, cleo):
    known, stranger = Visitor(guarded), Visitor(guarded)
    assert known.enter("Cleo", password=PASSWORD).status_code == 303
    assert known.post("/logout").status_code == 303
    attempts = guarded.state.site.attempts
    for number in range(60):
        attempts.begin(*keys_of("Cleo", f"place {number}"))
    assert stranger.enter("Cleo", password=PASSWORD).status_code == 429
    assert known.enter("Cleo", password=PASSWORD).status_code == 303
    # What a browser keeps is for one name, and is limited too.
    known.post("/logout")
    stranger.client.cookies.set("assay-device", "made.up")
    assert stranger.enter("Cleo", password=PASSWORD).status_code == 429
    for _ in range(10):
        assert known.enter("Cleo", password="guess").status_code == 403
    assert known.enter("Cleo", password=PASSWORD).status_code == 429


def test_many_tries_at_once_are_counted_before_they_are_looked_at(guarded, cleo, monkeypatch):
    asked = []
    monkeypatch.setattr(people, "check_password", lambda *_: asked.append(1))
    with ThreadPoolExecutor(20) as threads:
        tries = [
            threads.submit(Visitor(guarded).post, "/login", name="Cleo", password="guess")
            for _ in range(60)
        ]
    statuses = Counter(each.result().status_code for each in tries)
    # Some of the first ten may find too many others hashing.
    assert statuses[429] == 50
    assert len(asked) == statuses[403] <= 10


def test_those_who_find_too_many_others_hashing_are_sent_away_at_once(guarded, cleo):
    visitor, turns = Visitor(guarded), guarded.state.site.hashing
    with ExitStack() as stack:
        for _ in range(2):
            assert stack.enter_context(turns.take())
        turns.patience = 0
        assert not stack.enter_context(turns.take())
        for _ in range(7):
            turns._present.acquire()
        answer = visitor.enter("Cleo", password=PASSWORD)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert visitor.get("/login").status_code == 200
        for _ in range(7):
            turns._present.release()
    assert visitor.enter("Cleo", password=PASSWORD).status_code == 303


def test_the_address_of_the_database_is_for_those_who_are_logged_in(store, ada, app, caplog):
    def lost(*_, **__):
        raise Unavailable("postgresql://ann@db.example/suite cannot be used (gone).")

    stranger = Visitor(app)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "person_named", lost)
        answer = stranger.post("/login", name="Ben")
    assert answer.status_code == 503
    assert "db.example" not in answer.text
    assert "db.example" in caplog.text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browse, "find", lost)
        assert "db.example" in ada.get("/browse").text


def test_a_log_out_gives_back_what_was_shown(store, ada, ben):
    ada.get("/resolve")
    with store.write() as connection:
        connection.execute(leases.delete())
        connection.execute(leases.insert().values(item_id=1, annotator_id=1, expires="9"))
        connection.execute(leases.insert().values(item_id=1, annotator_id=2, expires="9"))
    ada.post("/logout")
    with store.read() as connection:
        assert [row.annotator_id for row in connection.execute(leases.select())] == [2]


def test_a_one_time_link_works_once(guarded, store):
    with store.write() as connection:
        secret = invite(connection, "Dora")
    first, second = Visitor(guarded), Visitor(guarded)
    assert first.get(f"/invite/{secret}").status_code == 200
    assert second.get(f"/invite/{secret}").status_code == 200
    assert first.post("/invite", secret=secret).headers["location"] == "/account"
    assert second.post("/invite", secret=secret).status_code == 403
    assert second.get("/resolve").status_code == 303
    assert "Dora" in first.get("/account").text


def test_whoever_was_invited_can_choose_a_password(guarded, store):
    with store.write() as connection:
        secret = invite(connection, "Dora")
    dora = Visitor(guarded)
    dora.get(f"/invite/{secret}")
    dora.post("/invite", secret=secret)
    dora.get("/account")
    assert "passwords differ" in dora.post("/account", password=PASSWORD, again="other").text
    assert "at least" in dora.post("/account", password="short", again="short").text
    assert dora.post("/account", password=PASSWORD, again=PASSWORD).status_code == 303
    assert "Your password is set" in dora.get("/account?done=1").text
    assert Visitor(guarded).enter("Dora", password=PASSWORD).headers["location"] == "/resolve"


def test_a_new_password_ends_the_other_logins(guarded, cleo):
    here, there = Visitor(guarded), Visitor(guarded)
    for visitor in (here, there):
        visitor.enter("Cleo", password=PASSWORD)
    here.post("/account", password="another good one", again="another good one")
    assert here.get("/resolve").status_code == 200
    assert there.get("/resolve").status_code == 303


@pytest.mark.parametrize(
    "path",
    ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "", "/\r\nX: y", "/é"],
)
def test_a_log_in_leads_to_no_other_server(app, path):
    assert inside(path) == "/resolve"
    visitor = Visitor(app)
    visitor.get("/login")
    assert visitor.post("/login", name="Ada", after=path).headers["location"] == "/resolve"


def test_a_log_in_leads_to_the_page_that_was_asked_for(app):
    visitor = Visitor(app)
    asked = visitor.get("/browse?text=a%20b&verdict=pass").headers["location"]
    visitor.get(asked)
    form = visitor.get(asked).text
    assert 'name="after" value="/browse?text=a%20b&amp;verdict=pass"' in form


def test_there_are_no_pages_about_the_interface(ada):
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert ada.get(path).status_code == 404


def test_an_unknown_address_leads_back_to_the_pages(app, ada):
    for path in ("/nowhere", "/decide"):
        answer = ada.get(path)
        assert answer.status_code == 404
        assert "There is no such page." in answer.text
        assert '<a href="/browse"' in answer.text
    assert Visitor(app).get("/nowhere").headers["location"] == "/login?next=%2Fnowhere"


def test_files_outside_are_not_served(ada):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"):
        assert ada.get(path).status_code == 404


def test_an_error_of_ours_keeps_the_headers(store, monkeypatch):
    monkeypatch.setattr(browse, "find", lambda *_, **__: 1 / 0)
    visitor = Visitor(make_app(store, ServerSettings()))
    visitor.enter("Ada")
    visitor.client._transport.raise_server_exceptions = False
    answer = visitor.get("/browse")
    assert answer.status_code == 500
    assert answer.headers["content-security-policy"] == POLICY
    assert "ZeroDivisionError" not in answer.text
