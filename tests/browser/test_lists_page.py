"""Two people who judge the same outputs in a real browser: blindness, notes, downloads, access."""

import csv

import numpy as np
import pytest

from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store.dealing import assign
from assay.suites.store.people import add_person
from assay.suites.store.runs import save_run
from tests.browser import test_resolve_page
from tests.browser.test_resolve_page import FIRST, READY, press, press_and_wait

pytestmark = test_resolve_page.pytestmark
chromium, store = test_resolve_page.chromium, test_resolve_page.store
serve, visit, enter = test_resolve_page.serve, test_resolve_page.visit, test_resolve_page.enter

PAGES = (
    "/browse",
    "/history",
    "/disputes",
    "/agreement",
    "/report?policy=fail",
    "/downloads",
    "/phenomena?category=Ambiguity&phenomenon=Lexical+ambiguity",
    "/resolve",
    "/rules",
    "/rules/1",
    "/suggestions",
    "/team",
    "/people",
    "/items/1",
    "/items/new",
    "/rule/1",
)
LOOKS = [("light", 1366), ("dark", 1366), ("light", 390), ("dark", 390)]


def open_path(page, path):
    page.goto(page.url.split("/", 3)[0] + "//" + page.url.split("/", 3)[2] + path)


def test_the_second_judge_sees_nothing_before_judging_and_all_afterwards(store, enter, tmp_path):
    with store.write() as connection:
        for name in ("Ada", "Ben"):
            add_person(connection, name)
        rng = np.random.default_rng(1)
        assign(connection, 1, {"Ada": 1, "Ben": 1}, double=1, rng=rng)
    ada, ben = enter("Ada"), enter("Ben")
    ada.click(".note-form summary")
    ada.fill(".note-form textarea", "a telling remark")
    ada.select_option(".note-form [name=flag]", "unsure")
    ada.click("text=Save the note")
    ada.wait_for_selector(".note-text >> text=a telling remark")
    press_and_wait(ada, "f")
    for path in ("/browse?text=spouse", "/history", "/browse?person=Ada"):
        open_path(ben, path)
        assert "a telling remark" not in ben.inner_text("main")
        assert "said fail" not in ben.inner_text("main")
    open_path(ben, "/resolve")
    assert FIRST in ben.inner_text("main")
    assert "a telling remark" not in ben.inner_text("main")
    press_and_wait(ben, "f")
    open_path(ben, "/history")
    assert "a telling remark" in ben.inner_text("main")
    assert "UTC" not in ben.inner_text(".past-head time")
    open_path(ada, "/downloads")
    with ada.expect_download() as waiting:
        ada.click('[href="/download/decisions.csv"]')
    waiting.value.save_as(tmp_path / "decisions.csv")
    with (tmp_path / "decisions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["person"], row["verdict"]) for row in rows] == [("Ada", "fail"), ("Ben", "fail")]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_on_the_pages(enter, scheme, width):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs: pip install axe-playwright-python"
    ).Axe()
    page = enter("Ada", color_scheme=scheme, viewport={"width": width, "height": 900})
    page.click(".note-form summary")
    page.fill(".note-form textarea", "odd")
    page.click("text=Save the note")
    page.wait_for_selector(".note-text")
    page.wait_for_selector(READY)
    press_and_wait(page, "p")
    for path in PAGES:
        open_path(page, path)
        _assert_accessible(axe, page, width)
    open_path(page, "/team")
    page.click('form[action="/deal"] button[value=plan]')
    page.wait_for_selector("text=Divide it so")
    _assert_accessible(axe, page, width)


def _assert_accessible(axe, page, width):
    found = axe.run(page).response["violations"]
    assert [(page.url, one["id"], one["nodes"][0]["html"]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_lead_divides_the_work_and_decides_a_dispute_while_others_judge(store, enter):
    ada, ben, cem = enter("Ada"), enter("Ben"), enter("Cem")
    press_and_wait(ben, "f")
    open_path(ada, "/team")
    ada.click('form[action="/deal"] button[value=plan]')
    ada.wait_for_selector("h1 >> text=Divide the work")
    ada.click("text=Divide it so")
    ada.wait_for_selector("h1 >> text=Team")
    open_path(ada, "/history")
    assert "dealt" in ada.inner_text("main li >> nth=0")
    ada.click("main li >> nth=0 >> text=Undo")
    ada.wait_for_selector("main li.undone")
    open_path(ben, "/history")
    judged = ben.get_attribute("main li a[href^='/case/'] >> nth=0", "href")
    open_path(cem, judged)
    cem.wait_for_selector(READY)
    press_and_wait(cem, "p")
    open_path(cem, "/disputes")
    assert cem.locator(".dispute button.pass").count() == 0
    open_path(ada, "/disputes")
    ada.wait_for_selector(".dispute")
    press(ada, "p")
    ada.wait_for_selector("text=There are no disputes.")
    press(ada, "u")
    ada.wait_for_selector(".dispute")
    assert ada.url.endswith("/disputes")


def test_a_suggestion_is_looked_at_accepted_and_undone_and_a_backup_downloaded(store, enter):
    with store.write() as connection:
        save_run(connection, Run("zeta", {"m1": "She loves a stranger."}), Checker())
    ada = enter("Ada")
    assert FIRST in ada.inner_text("main")
    press_and_wait(ada, "p")
    open_path(ada, "/browse?text=stranger")
    ada.click("a.open")
    ada.wait_for_selector(READY)
    press(ada, "f")
    ada.wait_for_selector("#output", state="detached")  # the list is at its end
    open_path(ada, "/suggestions")
    ada.click("text=Look and accept")
    ada.wait_for_selector("text=3 settled")
    ada.click("button.primary >> text=Save")
    ada.wait_for_selector("text=You added a rule")
    press(ada, "u")
    ada.wait_for_selector("text=settles 3 outputs")
    open_path(ada, "/downloads")
    with ada.expect_download() as waiting:
        ada.click("text=Download a backup")
    assert waiting.value.suggested_filename.endswith(".db")
