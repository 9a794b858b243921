"""The page for resolving warnings in a real browser, used the way a linguist uses it."""

import re
import shutil
import subprocess
import sys

import pytest

from assay.suites.store.finding import find
from assay.suites.store.history import history
from assay.suites.store.people import add_person
from assay.suites.store.queue import case
from assay.suites.store.records import Filters
from tests.patience import PATIENCE
from tests.suites.web.hubby import NASTY, new_store

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium")

FIRST = "She loves her spouse."
READY = ".scripted .case"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs: pip install playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu"],
            timeout=1000 * PATIENCE,
        )
        yield browser
        browser.close()


@pytest.fixture
def store(tmp_path):
    store = new_store(tmp_path / "suite.db")
    yield store
    store.close()


@pytest.fixture
def serve(tmp_path, store):
    """Start a server with the given options; gives its address."""
    started = []

    def start(*options):
        command = [sys.executable, "-m", "assay.cli", "suite", "serve", "--port", "0"]
        command += ["--db", str(tmp_path / "suite.db"), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        started.append(process)
        return re.match(r"http://\S+", process.stdout.readline().decode())[0]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def visit(chromium):
    """Open a page in a browser of its own; at the end, no page may have complained."""
    complaints, contexts = [], []

    def open_page(address, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: _hear(message.text, complaints))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _hear(text, complaints):
    # That the server refused something, or is gone, is what some of the tests are about; and a
    # test may begin to fill in a form before the browser has drawn it.
    if not text.startswith(("Failed to load resource", "Autofocus processing was blocked")):
        complaints.append(text)


@pytest.fixture
def enter(serve, visit):
    """Somebody at the main page, who has said their name."""
    addresses = []

    def by_name(name, **options):
        if not addresses:
            addresses.append(serve())
        page = visit(addresses[0], **options)
        page.wait_for_selector("[name=name]:focus")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_selector(READY if options.get("java_script_enabled", True) else ".case")
        return page

    return by_name


def shown(page):
    return page.inner_text("#output")


def press(page, key):
    """Press a key as soon as the page listens to keys: a person takes longer than this."""
    page.wait_for_selector("html.scripted", state="attached")
    page.keyboard.press(key)


def press_and_wait(page, key):
    """Press a key, and wait until the case has changed."""
    before = shown(page)
    press(page, key)
    page.wait_for_function(
        "text => document.querySelector('#output').innerText !== text", arg=before
    )


def leased(store, name):
    """How many items are a person's at present."""
    asked = "SELECT count(*) FROM leases JOIN annotators ON annotators.id = annotator_id"
    with store.read() as connection:
        return connection.exec_driver_sql(f"{asked} WHERE name = '{name}'").scalar()


def verdicts(store, text):
    with store.read() as connection:
        found, _ = find(connection, Filters(text=text))
    return {output.text: output.verdict for _, output in found}


def test_a_warning_is_resolved_by_one_key_and_undone_by_another(store, enter):
    page = enter("Ada")
    assert shown(page) == FIRST
    press_and_wait(page, "p")
    assert page.inner_text("#toast .toast-text") == "Passed: settles 2 outputs"
    assert verdicts(store, FIRST) == {FIRST: "pass"}
    press_and_wait(page, "u")
    assert shown(page) == FIRST
    assert verdicts(store, FIRST) == {FIRST: "warning"}
    press_and_wait(page, "f")
    assert verdicts(store, FIRST) == {FIRST: "fail"}


def test_a_new_rule_settles_three_other_outputs(store, enter):
    page = enter("Ada")
    press(page, "n")
    page.wait_for_selector("#panel .group")
    bar, panel = page.locator(".top").bounding_box(), page.locator("#panel").bounding_box()
    assert bar["height"] <= panel["y"]  # the heading of the panel is not under the bar
    page.fill("#panel .pattern", "")
    page.keyboard.type("spouse")
    page.wait_for_selector("text=this output and 3 others")
    assert page.locator("#panel .settles li").count() == 3
    assert page.locator("#panel .settles mark.good").all_inner_texts() == ["spouse"] * 3
    assert set(verdicts(store, "spouse").values()) == {"warning"}
    press(page, "Enter")
    page.wait_for_selector("#panel", state="hidden")
    assert set(verdicts(store, "spouse").values()) == {"pass"}
    assert shown(page) == "Her hubby came."
    press(page, "u")
    page.wait_for_function("() => document.querySelector('#toast').innerText.includes('Undone')")
    assert set(verdicts(store, "spouse").values()) == {"warning"}


def test_selected_words_become_a_rule_and_a_regex_can_be_edited(store, enter):
    page = enter("Ada")
    page.dblclick("#output", position={"x": 20, "y": 20})
    selected = page.evaluate("getSelection().toString().trim()")
    assert selected in FIRST
    press(page, "n")
    page.wait_for_selector("#panel .pattern")
    assert page.input_value("#panel .pattern") == selected
    page.fill("#panel .pattern", "spouse.")
    page.check("#panel [name=kind][value=regex]", force=True)
    assert page.input_value("#panel .pattern") == r"spouse\."
    page.fill("#panel .pattern", "(")
    page.wait_for_selector("#panel .trouble")
    press(page, "Enter")
    page.wait_for_selector("#panel .trouble")
    assert page.is_visible("#panel")
    press(page, "Escape")
    page.wait_for_selector("#panel", state="hidden")
    with store.read() as connection:
        assert history(connection) == []


def test_the_decision_just_made_becomes_a_rule(store, enter):
    page = enter("Ada")
    press_and_wait(page, "f")
    press(page, "r")
    page.wait_for_selector("#panel .pattern")
    assert page.is_checked("#panel [value=negative]")
    assert page.inner_text("#panel .own") == FIRST


def test_two_people_get_different_items_and_meet_only_if_they_want_to(store, enter):
    ada, ben = enter("Ada"), enter("Ben")
    assert shown(ada) == FIRST
    assert shown(ben) == "Her hubby came."
    # The address is that of the case, for a reload and for others.
    assert re.search(r"/case/\d+$", ada.url)
    ada.reload()
    ada.wait_for_selector(READY)
    assert shown(ada) == FIRST
    ben.goto(ada.url)
    ben.wait_for_selector(READY)
    assert "Ada is looking at this item, too" in ben.inner_text("#notices")
    press_and_wait(ada, "p")
    press_and_wait(ben, "f")
    told = ben.locator("#notices .notice p").last.inner_text()
    assert told == (
        "Ada said pass while you were looking at the same output, and you said fail. "
        "Both decisions are kept; the output is now a dispute."
    )
    with store.read() as connection:
        ((_, output),), _ = find(connection, Filters(text=FIRST))
        words = case(connection, output.id).output.decisions
    assert {(each.person, each.verdict) for each in words} == {("Ada", "pass"), ("Ben", "fail")}
    # What one leaves, others get.
    ada.goto(ada.url.split("/case")[0] + "/browse?text=spouse")
    while leased(store, "Ada"):
        ada.wait_for_timeout(20)
    ada.click("a.open >> nth=2")
    ada.wait_for_selector(READY)
    assert "list=1" in ada.url
    before = shown(ada)
    press_and_wait(ada, "f")
    assert "list=1" in ada.url
    ada.go_back()
    ada.wait_for_function(
        "text => document.querySelector('#output').innerText === text", arg=before
    )


def test_a_decision_without_an_answer_is_sent_again_and_saved_once(store, enter):
    page = enter("Ada")
    keys = []

    def cut(route):
        keys.append(re.search("key=([^&]+)", route.request.post_data)[1])
        if len(keys) == 1:
            route.fetch()  # the server has saved it, but nobody hears of it
            route.abort()
        else:
            route.continue_()

    page.route("**/decide", cut)
    press_and_wait(page, "p")
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert page.inner_text("#toast .toast-text") == "Passed: settles 2 outputs"
    assert page.locator("#sending").count() == 0
    with store.read() as connection:
        assert len(history(connection)) == 1


def test_a_rule_without_an_answer_is_sent_again_and_saved_once(store, enter):
    page = enter("Ada")
    sent = []

    def cut(route):
        sent.append(route.request.post_data)
        if len(sent) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    press(page, "n")
    page.wait_for_selector("#panel .group")
    page.route(re.compile(r"/rule/\d+$"), cut)
    page.fill("#panel .pattern", "spouse")
    press(page, "Enter")
    page.wait_for_selector("#panel", state="hidden")
    assert len(sent) == 2
    assert sent[0] == sent[1]
    with store.read() as connection:
        assert [entry.kind for entry in history(connection)] == ["rule"]


def test_filters_are_counted_again_after_a_decision(enter):
    page = enter("Ada")
    page.goto(page.url.split("/case")[0] + "/resolve?category=Ambiguity")
    category = page.locator(".filter select[name=category]")
    assert "Ambiguity (6)" in category.inner_text()
    press_and_wait(page, "p")
    page.wait_for_selector(".filter option:text('Ambiguity (5)')", state="attached")
    assert category.input_value() == "Ambiguity"
    page.goto(page.url.split("/case")[0] + "/resolve")
    assert "(" not in category.inner_text()
    page.locator(".filter summary").click()  # counted where somebody looks
    page.wait_for_selector(".filter option:text('Ambiguity (5)')", state="attached")


def test_a_second_window_is_told_that_it_is_outdated(store, enter):
    page = enter("Ada")
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(READY)
    press_and_wait(page, "p")
    press(other, "f")
    other.wait_for_selector("#notices .notice")
    assert "in another window" in other.inner_text("#notices")
    assert shown(other) == FIRST
    assert verdicts(store, FIRST) == {FIRST: "pass"}


def test_an_output_full_of_markup_is_shown_as_text(store, enter):
    page = enter("Ada")
    while shown(page) != NASTY:
        press_and_wait(page, "s")
    assert page.title() == "Resolve warnings · assay"
    press(page, "n")
    page.wait_for_selector("#panel .pattern")
    assert page.inner_text("#panel .own") == NASTY
    press(page, "Escape")
    press(page, "/")
    page.keyboard.type("pwned")
    press(page, "Enter")
    page.wait_for_selector(".found-output")
    assert page.inner_text(".found-output") == NASTY
    assert "pwned" not in page.title()
    assert page.locator("main script, main img, main b[onmouseover]").count() == 0


def toast_says(page, text):
    page.wait_for_function(
        "text => document.querySelector('#toast').innerText.includes(text)", arg=text
    )


def test_an_item_is_settled_by_keys_alone(store, enter):
    page = enter("Ada", viewport={"width": 1366, "height": 768})
    rows = page.locator(".output-row")
    for key in ("j", "ArrowDown", "k"):
        press(page, key)
    assert shown(page) == rows.nth(1).locator(".text").inner_text()
    page.wait_for_selector(".output-row:not(.chosen) .gap")
    # Several at once: the screen stays on the item.
    for key in ("x", "j", "Space"):
        press(page, key)
    assert page.inner_text(".marked-count") == "2 marked"
    press(page, "p")
    toast_says(page, "Passed 2 different outputs")
    assert page.get_attribute(".case", "data-item") == "m1"
    assert sorted(verdicts(store, "spouse").values()) == ["pass", "pass", "warning", "warning"]
    # The rule panel stands beside the outputs, and Tab stays in it.
    press(page, "n")
    page.wait_for_selector("#panel .group")
    outputs, panel = (page.locator(each).bounding_box() for each in (".outputs", "#panel"))
    assert outputs["x"] + outputs["width"] <= panel["x"]
    for key in ("Tab",) * 12 + ("Shift+Tab",) * 14:
        press(page, key)
        assert page.evaluate("document.querySelector('#panel').contains(document.activeElement)")
    press(page, "Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert page.evaluate("document.activeElement.closest('.output-row.chosen') !== null")
    # All that are open, and on to the next item; undo brings both back.
    press(page, "a")
    press(page, "f")
    page.wait_for_selector("[data-item=m2]")
    assert sorted(verdicts(store, "spouse").values()) == ["fail", "fail", "pass", "pass"]
    press(page, "u")
    page.wait_for_selector("[data-item=m1]")
    assert sorted(verdicts(store, "spouse").values()) == ["pass", "pass", "warning", "warning"]


def test_the_rules_beside_the_outputs_are_as_one_left_them_and_names_can_be_hidden(enter):
    page = enter("Ada")
    page.click(".item-rules summary")
    page.wait_for_selector(".item-rules:not([open])")
    page.click("text=Hide system names")
    page.wait_for_selector("text=Show system names")
    page.wait_for_selector(".item-rules:not([open])")
    assert "alpha" not in page.inner_text(".outputs")
    assert "system 1" in page.inner_text(".outputs")


def test_what_is_typed_before_all_scripts_have_come_is_not_lost(store, enter):
    page = enter("Ada")
    home = page.url.split("/case")[0].split("/resolve")[0]
    page.goto(f"{home}/rules?item=m2&polarity=positive")
    held = []
    page.route("**/static/queue.js", lambda route: held.append(route))
    page.goto(home + page.get_attribute("text=Edit …", "href"), wait_until="commit")
    page.fill(".pattern", "h(usband|ubby)")
    page.keyboard.press("Escape")
    assert page.locator("text=Save the new version").count() == 0
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    page.wait_for_selector("text=Save the new version")


def test_a_lead_retires_a_rule_that_others_only_look_at(store, enter):
    ada, ben = enter("Ada"), enter("Ben")
    home = ada.url.split("/case")[0].split("/resolve")[0]
    for page in (ada, ben):
        page.goto(f"{home}/rules?item=m2&polarity=positive")
    assert ben.locator("text=Retire …").count() == 0
    ada.click("text=Retire …")
    ada.wait_for_selector("text=If it is retired")
    assert "alpha" in ada.inner_text(".preview table")
    assert verdicts(store, "Her husband came.")["Her husband came."] == "pass"
    ada.click("text=Retire the rule")
    toast_says(ada, "retired a rule of m2")
    assert verdicts(store, "Her husband came.")["Her husband came."] == "warning"
    ben.goto(f"{home}/rules?item=m2&state=retired")
    ben.click("text=Look")
    ben.wait_for_selector("text=only a lead can change it")
    assert ben.locator("text=Restore the rule").count() == 0
    press(ada, "u")
    ada.wait_for_selector(".figures")
    assert verdicts(store, "Her husband came.")["Her husband came."] == "pass"
    # Editing shows the effect while one types.
    ada.goto(f"{home}/rules?item=m2&polarity=positive")
    ada.click("text=Edit …")
    ada.fill(".pattern", "h(usband|ubby)")
    ada.click("text=Save the new version")
    toast_says(ada, "changed a rule of m2")
    assert verdicts(store, "hubby")["Her hubby came."] == "pass"


def test_a_note_is_about_the_output_that_is_chosen(store, enter):
    page = enter("Ada")
    press(page, "j")
    chosen = page.locator(".output-row").nth(1).get_attribute("data-output")
    page.get_by_text("Add a note or a flag").click()
    page.get_by_label("Note", exact=True).fill("odd")
    page.get_by_role("button", name="Save the note").click()
    page.get_by_text("on this output").wait_for()
    assert re.search(rf"/case/{chosen}\b", page.url)
    # The list of notes follows the choice.
    page.locator(".scripted .case").wait_for()
    press(page, "k")
    assert page.get_by_text("on another output").is_visible()
    assert not page.get_by_text("on this output").is_visible()
    press(page, "j")
    assert page.get_by_text("on this output").is_visible()
    assert not page.get_by_text("on another output").is_visible()
    with store.read() as connection:
        (note,) = history(connection, kind="note")
    assert str(note.output) == chosen


def test_keys_are_letters_where_one_types(store, enter):
    page = enter("Ada")
    press(page, "/")
    page.keyboard.type("pfsu")
    assert page.input_value(".search input") == "pfsu"
    with store.read() as connection:
        assert history(connection) == []
    press(page, "Escape")
    press(page, "?")
    assert page.is_visible("#help")
    press(page, "p")
    press(page, "Escape")
    assert not page.is_visible("#help")
    assert shown(page) == FIRST


def test_a_server_that_is_gone_is_noticed_and_nothing_is_skipped(store, enter):
    page = enter("Ada")
    page.context.set_offline(True)
    press(page, "p")
    page.wait_for_selector("text=Sending again")
    page.wait_for_selector("text=it is not known whether this was saved")
    assert shown(page) == FIRST
    page.context.set_offline(False)
    page.click("text=Try again")
    page.wait_for_function(
        "text => document.querySelector('#output').innerText !== text", arg=FIRST
    )
    assert verdicts(store, FIRST) == {FIRST: "pass"}
    with store.read() as connection:
        assert len(history(connection)) == 1


def test_without_script_the_same_can_be_done(store, enter):
    page = enter("Ada", java_script_enabled=False)
    page.click(".acts button.pass")
    page.wait_for_url("**/resolve?*last=*")
    assert verdicts(store, FIRST) == {FIRST: "pass"}
    page.click("#toast button")
    page.wait_for_url("**/case/*")
    assert verdicts(store, FIRST) == {FIRST: "warning"}


@pytest.mark.parametrize("width", [360, 800, 1000, 1270])
def test_nothing_is_wider_than_the_window_and_the_names_of_pages_are_all_seen(enter, width):
    page = enter("Wilhelmine Oberthal-Hinterhuber", viewport={"width": width, "height": 800})
    home = page.url.split("/case")[0].removesuffix("/resolve")
    seen = "nav => nav.scrollWidth <= nav.clientWidth"
    assert page.locator(".top nav").evaluate(seen) == (width > 360)  # there, it can be moved
    for path in ("resolve", "browse", "rules", "rules/1", "suggestions", "disputes", "team"):
        page.goto(f"{home}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # The name of a page is a class of its body, and must not be that of a part of pages.
        assert page.evaluate("getComputedStyle(document.body).display") == "block"


def test_nobody_gets_in_without_an_account(store, serve, visit):
    with store.write() as connection:
        add_person(connection, "Cleo", PASSWORD)
    page = visit(serve("--login"))
    for name, password in (("Ada", "guess"), ("Cleo", "guess")):
        page.fill("[name=name]", name)
        page.fill("[name=password]", password)
        with page.expect_response("**/login") as answer:
            press(page, "Enter")
        assert answer.value.status == 403
        assert "password is wrong" in page.inner_text("[role=alert].trouble")
    page.goto(page.url.replace("/login", "/resolve"))
    assert "/login" in page.url
    page.fill("[name=name]", "Cleo")
    page.fill("[name=password]", PASSWORD)
    press(page, "Enter")
    page.wait_for_selector(".case")
