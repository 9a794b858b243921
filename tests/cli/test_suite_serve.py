"""`assay suite serve` as a process of its own: it answers, it guards, it says what is wrong."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import httpx
import pytest

from assay.suites.store.people import add_person
from tests.patience import PATIENCE
from tests.suites.web.hubby import new_store

ITEM = {
    "id": "1",
    "langpair": "deen",
    "category": "Ambiguity",
    "phenomenon": "Lexical ambiguity",
    "source_sentence": "Ihr Mann.",
    "positive_regex": "husband",
    "negative_regex": "man",
    "positive_tokens": [],
    "negative_tokens": [],
}


@pytest.fixture
def db(here):
    new_store(here / "suite.db").close()
    return here / "suite.db"


@contextmanager
def serving(*options):
    """A server on a free port; gives the address, the lines it printed after, and the process."""
    command = [sys.executable, "-m", "assay.cli", "suite", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            first = process.stdout.readline().decode()
            found = re.match(r"(http://\S+)  \(stop with Ctrl-C\)", first)
            assert found, first + process.stderr.read().decode()
            yield found[1], process
        finally:
            process.kill()


def page(address):
    """What a browser shows there, which keeps cookies on its way."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(address, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_the_page_answers_at_the_printed_address_and_stops_at_ctrl_c(db):
    with serving("--db", "suite.db") as (address, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
        assert "Who are you?" in page(address)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            page(address.partition("?")[0])
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""


def test_another_host_name_is_refused(db):
    with serving("--db", "suite.db") as (address, _):
        asked = urllib.request.Request(address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(asked, timeout=PATIENCE)


def test_people_who_are_invited_get_a_link(db):
    with serving("--db", "suite.db", "--login", "--invite", "Ada", "Ben Cy") as (address, process):
        for name in ("Ada", "Ben Cy"):
            line = process.stdout.readline().decode()
            link, told = line.rstrip("\n").split("  ")
            assert link.startswith(f"{address}/invite/")
            assert told == f"logs {name} in, once"
            assert "This link logs you in once." in page(link)
        assert "Password" in page(f"{address}/login")


def test_behind_another_web_server_its_name_is_answered(db):
    command = ("--db", "suite.db", "--proxy", "suite.example", "--invite", "Ada")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "assay.cli", "suite", "serve", "--port", str(port), *command]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline().startswith(b"https://suite.example  ")
            headers = {"Host": "suite.example", "X-Forwarded-Proto": "https"}
            secret = process.stdout.readline().decode().split()[0].rpartition("/")[2]
            asked = {"data": {"secret": secret}, "headers": headers, "timeout": PATIENCE}
            answer = httpx.post(f"http://127.0.0.1:{port}/invite", **asked)
            assert "Secure" in answer.headers["Set-Cookie"]
        finally:
            process.kill()


def test_a_port_that_is_taken_is_named(db, refusal):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        error = refusal(f"suite serve --db suite.db --port {port}")
    assert error.startswith(f"cannot listen on 127.0.0.1, port {port}: Address already in use.")
    assert "--port" in error


@pytest.mark.parametrize("options", ["--login", "--proxy suite.example", "--host 0.0.0.0"])
def test_without_any_account_it_does_not_start_for_others(db, refusal, options):
    error = refusal(f"suite serve --db suite.db --port 0 {options}")
    assert "nobody has an account yet" in error
    assert "--invite" in error


def test_with_an_account_it_starts_for_others(here):
    store = new_store(here / "suite.db")
    with store.write() as connection:
        add_person(connection, "Cleo", "correct horse battery")
    store.close()
    with serving("--db", "suite.db", "--host", "0.0.0.0") as (address, _):
        port = address.rpartition(":")[2]
        assert "Password" in page(f"http://127.0.0.1:{port}/login")


def test_a_folder_that_is_missing_is_named(refusal):
    assert "nowhere" in refusal("suite serve --db nowhere/suite.db")


def test_a_file_that_does_not_exist_yet_is_made(here):
    with serving("--db", "new.db") as (address, _):
        assert "Who are you?" in page(address)
    assert (here / "new.db").exists()


def test_a_host_that_is_not_there_is_named(db, refusal):
    assert refusal("suite serve --db suite.db --host nowhere.invalid").startswith(
        "--host nowhere.invalid: no such address"
    )


def test_import_run_and_serve_work_one_after_the_other(here, run):
    (here / "items.json").write_text(json.dumps({"items": [ITEM]}))
    (here / "a.txt").write_text("Her hubby.\n")
    assert run("suite import items.json --db suite.db").status == 0
    assert run("suite run --db suite.db -i a.txt").status == 0
    with serving("--db", "suite.db") as (address, _):
        assert "Who are you?" in page(address)
