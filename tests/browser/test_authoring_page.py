"""A linguist's first hour in a real browser: from a sheet and three files to verdicts."""

import re
import shutil
import subprocess
import sys

import openpyxl
import pytest

from tests.patience import PATIENCE

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium")

NOUNS = ("bulb", "castle", "bank", "seal", "crane")


@pytest.fixture
def address(tmp_path):
    """The address of a server on a database that did not exist."""
    command = [sys.executable, "-m", "assay.cli", "suite", "serve", "--port", "0"]
    process = subprocess.Popen([*command, "--db", str(tmp_path / "new.db")], stdout=subprocess.PIPE)
    yield re.match(r"http://\S+", process.stdout.readline().decode())[0]
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def files(tmp_path):
    """A sheet of 30 items with names of its own, and the outputs of three systems."""
    book = openpyxl.Workbook()
    book.active.append(["Nr", "German sentence", "Topic", "Area", "Right", "Wrong"])
    outputs = {"atlas": [], "birch": [], "cedar": []}
    for number in range(1, 31):
        noun = NOUNS[number % 5]
        row = [f"s{number}", f"Satz {number}.", f"Topic {number % 3}", "Ambiguity"]
        book.active.append([*row, rf"\b{noun}\b", f"no {noun[::-1]}"])
        outputs["atlas"].append(f"This is a {noun}, number {number}.")
        outputs["birch"].append(f"There is no {noun[::-1]}.")
        outputs["cedar"].append(f"A {noun}." if number % 2 else f"Something else, {number}.")
    book.save(tmp_path / "sheet.xlsx")
    book.active.append(["s31", "Satz 31.", "Topic 0", "(Ambiguity", "", ""])
    book.save(tmp_path / "broken.xlsx")
    for name, lines in outputs.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.fixture
def page(address):
    """A browser at the address; at the end, the page may not have complained."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs: pip install playwright")
    complaints = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu"],
            timeout=1000 * PATIENCE,
        )
        context = browser.new_context(viewport={"width": 1366, "height": 800})
        context.set_default_timeout(1000 * PATIENCE)
        opened = context.new_page()
        opened.on("console", lambda message: _hear(message.text, complaints))
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto(address)
        yield opened
        browser.close()
    assert complaints == []


def _hear(text, complaints):
    if not text.startswith("Failed to load resource"):  # an import that is refused
        complaints.append(text)


def findings(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = []
    for scheme, width in (("light", 1366), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        broad = page.evaluate("document.documentElement.scrollWidth") > width
        found += [f"{page.url} is broader than {width}"] if broad else []
        for each in axe.Axe().run(page).response["violations"]:
            nodes = [node["html"][:120] for node in each["nodes"][:3]]
            found.append((page.url, scheme, width, each["id"], nodes))
    page.set_viewport_size({"width": 1366, "height": 800})
    return found


def look_at_the_file(page):
    """Send the file, and wait for the page of its columns: the old one forgets what is chosen."""
    with page.expect_navigation():
        page.get_by_role("button", name="Look at the file").click()
    page.wait_for_selector("html.scripted", state="attached")


def test_a_sheet_and_three_files_become_verdicts_and_an_item_is_edited(page, files):
    problems = []
    if page.get_by_label("Name").count():
        page.get_by_label("Name").fill("Ann")
        page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Make a suite").wait_for()
    problems += findings(page)
    page.get_by_label("File", exact=True).set_input_files(files / "sheet.xlsx")
    look_at_the_file(page)
    page.get_by_text("30 items, the first 8").wait_for()
    assert page.get_by_label("What Area holds").input_value() == "category"
    page.get_by_label("Name of the suite").fill("First hour")
    page.get_by_label("What Wrong holds").select_option("ignore")
    page.get_by_text("3 phenomena · 30 rules").wait_for()
    page.get_by_label("What Wrong holds").select_option("negative_fixed")
    page.get_by_text("3 phenomena · 60 rules").wait_for()
    problems += findings(page)
    # A column of regular expressions that has a string in it is refused, mended, and sent again.
    page.get_by_label("What Area holds").select_option("positive_regex")
    page.get_by_text("3 phenomena · 90 rules").wait_for()
    page.get_by_label("File", exact=True).set_input_files(files / "broken.xlsx")
    look_at_the_file(page)
    page.get_by_text("hold what you chose").wait_for()
    assert page.get_by_label("What Area holds").input_value() == "positive_regex"
    assert page.get_by_label("Name of the suite").input_value() == "First hour"
    page.get_by_role("button", name="Import").click()
    page.locator(".refused:focus").wait_for()
    problems += findings(page)
    page.get_by_role("link", name="See the first one").click()
    page.locator("#problem-1:focus").wait_for()
    assert page.locator("#problem-1").inner_text().startswith("Row 32: column 'Area'")
    page.get_by_label("read it as a string").check()
    page.get_by_text("31 items, the first 8").wait_for()
    assert page.evaluate("document.activeElement.name") == "mixed-3"
    assert page.locator(".refused").count() == 0
    page.get_by_label("File", exact=True).set_input_files(files / "sheet.xlsx")
    look_at_the_file(page)
    page.get_by_label("What Area holds").select_option("category")
    page.get_by_text("3 phenomena · 60 rules").wait_for()
    page.get_by_role("button", name="Import").click()
    page.get_by_text("30 items added").wait_for()
    assert page.url.endswith("/suite?added=30&changed=0")
    problems += findings(page)
    page.get_by_role("link", name="Add outputs", exact=True).first.click()
    problems += findings(page)
    outputs = [files / f"{name}.txt" for name in ("atlas", "birch", "cedar")]
    page.get_by_label("Files with what systems made").set_input_files(outputs)
    page.get_by_label("Test round (campaign)").fill("wmt26")
    page.get_by_role("button", name="Look at the files").click()
    page.get_by_role("button", name="Save 3 runs").wait_for()
    assert page.locator(".samples li").count() == 5
    last = page.locator(".samples li").last.inner_text()
    assert "Satz 30." in last
    assert "This is a bulb, number 30." in last
    page.reload()
    page.get_by_role("button", name="Save 3 runs").wait_for()
    problems += findings(page)
    page.get_by_role("button", name="Save 3 runs").click()
    page.get_by_text("Outputs of atlas, birch and cedar were added.").wait_for()
    rows = page.get_by_role("region", name="Runs").locator("tbody tr")
    told = [re.findall(r"\d+", rows.nth(at).inner_text())[1:] for at in range(3)]
    assert told == [["30", "0", "0", "0"], ["0", "30", "0", "0"], ["15", "0", "15", "0"]]
    problems += findings(page)
    page.get_by_role("link", name="Items", exact=True).click()
    problems += findings(page)
    page.get_by_role("link", name="Edit item s2: Satz 2.").click()
    page.locator(".scripted .item-form").wait_for()
    page.get_by_label("Rule 3", exact=True).fill("Something else")
    page.get_by_text("3 outputs, 1 changed").wait_for()
    problems += findings(page)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved.").wait_for()
    page.get_by_role("link", name="Suite", exact=True).click()
    assert re.findall(r"\d+", rows.nth(2).inner_text())[1:] == ["16", "0", "14", "0"]
    assert problems == []


def test_what_is_chosen_before_all_scripts_have_come_is_not_lost(page, files):
    page.get_by_label("Name").fill("Ann")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Make a suite").wait_for()
    page.wait_for_selector("html.scripted", state="attached")
    held = []
    page.route("**/static/queue.js", lambda route: held.append(route))
    page.get_by_label("File", exact=True).set_input_files(files / "sheet.xlsx")
    page.get_by_role("button", name="Look at the file").click(no_wait_after=True)
    page.get_by_text("3 phenomena · 60 rules").wait_for()
    page.get_by_label("What Wrong holds").select_option("ignore")
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    page.get_by_text("3 phenomena · 30 rules").wait_for()
