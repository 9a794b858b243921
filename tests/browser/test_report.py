"""The page of a report in a real browser, used the way a reader uses it."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from urllib.parse import urldefrag
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.demo import read_demo
from assay.explanation.explain import explain
from assay.rendering.text import visible
from assay.reports.page import report_page
from tests.patience import PATIENCE
from tests.reports.payloads import HOSTILE, demo_payload, hostile_payload, synthetic_payload

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium")

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
KEEPS = (
    "window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); };"
)
REFUSES = "navigator.clipboard.writeText = async () => { throw new Error('refused'); };"


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


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The address of a payload's page; each page is made once."""
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def address(name):
        if name not in made:
            path = folder / f"{name}.html"
            path.write_text(report_page(PAYLOADS[name]()), "utf-8")
            made[name] = path.as_uri()
        return made[name]

    return address


PAYLOADS = {
    "demo": demo_payload,
    "many": lambda: synthetic_payload(systems=19, segments=300),
    "hostile": hostile_payload,
    "huge": lambda: synthetic_payload(systems=20, segments=3000),
    "bare": lambda: _without_extras(demo_payload()),
    "single": lambda: _single(demo_payload()),
}


def _without_extras(payload):
    payload |= {"findings": [], "slices": [], "sections": [], "kinds": []}
    payload["segments"] |= {
        "sources": [],
        "references": [],
        "documents": [],
        "labels": {},
        "faults": {},
    }
    return payload


def _single(payload):
    payload = _without_extras(payload)
    (name, *_) = payload["systems"]
    payload["systems"] = [name]
    payload["scoreboard"] = [row for row in payload["scoreboard"] if row["system"] == name]
    payload["segments"]["outputs"] = {name: payload["segments"]["outputs"][name]}
    return payload


@pytest.fixture
def visit(chromium, written):
    """Open a report in a browser of its own; nothing may be fetched, and no page may complain."""
    complaints, requests, contexts = [], [], []

    def open_page(name="demo", fragment="", *, script="", **options):
        context = chromium.new_context(**{"viewport": DESK, **options})
        contexts.append(context)
        context.set_default_timeout(1000 * PATIENCE)
        context.set_default_navigation_timeout(1000 * PATIENCE)
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if script:
            page.add_init_script(script)
        page.goto(written(name) + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert {urldefrag(url).url.rpartition("/")[2] for url in requests} <= {
        f"{name}.html" for name in PAYLOADS
    }
    assert all(url.startswith("file:") for url in requests)


def fragment(page):
    return urldefrag(page.url).fragment


def at(page, wanted):
    """Wait until the address is this one."""
    page.wait_for_function(
        "wanted => document.documentElement.dataset.shown === '#' + wanted", arg=wanted
    )


def focused(page):
    return page.evaluate("document.activeElement.id")


def listed(page):
    """The numbers of the segments in the list."""
    return [int(text.split()[1]) for text in page.locator("#list .segment h3").all_inner_texts()]


def press_until_focused(page, key, wanted):
    page.keyboard.press(key)
    page.wait_for_function("wanted => document.activeElement.id === wanted", arg=wanted)


# From the verdict to the words and back.


def test_links_lead_from_the_verdict_to_the_words_and_back(visit):
    page = visit()
    assert page.inner_text(".lead").startswith("birch is better than atlas by BLEU")
    page.click(".top li:nth-child(2) a")
    at(page, "finding-f2")
    assert focused(page) == "item-finding-f2"
    page.click("#item-finding-f2 .onward a")
    at(page, "segments?finding=f2")
    finding = PAYLOADS["demo"]()["findings"][1]
    assert listed(page) == finding["segments"][:20]
    assert page.inner_text("#status").startswith(f"{len(finding['segments'])} of 120 segments")
    number = finding["segments"][2]
    page.click(f"#item-segment-{number} h3 a")
    at(page, f"segment-{number}")
    assert page.locator(".segment").count() == 1
    assert page.locator(".segment mark").count() > 0
    page.click(".banner a")
    at(page, "segments?finding=f2")
    assert focused(page) == f"item-segment-{number}"
    page.click(".banner a")
    at(page, "finding-f2")
    assert focused(page) == "item-finding-f2"
    page.click(".bar a[href='#verdict']")
    at(page, "verdict")


def test_keys_lead_from_the_verdict_to_the_words_and_back(visit):
    page = visit()
    for wanted in ("item-finding-f1", "item-finding-f2", "item-finding-f3"):
        press_until_focused(page, "j", wanted)
    press_until_focused(page, "k", "item-finding-f2")
    page.keyboard.press("Enter")
    at(page, "segments?finding=f2")
    first, second, third = listed(page)[:3]
    for number in (first, second):
        press_until_focused(page, "j", f"item-segment-{number}")
    page.keyboard.press("Enter")
    at(page, f"segment-{second}")
    page.keyboard.press("j")
    at(page, f"segment-{third}")
    page.keyboard.press("Escape")
    at(page, "segments?finding=f2")
    assert focused(page) == f"item-segment-{third}"
    page.keyboard.press("Escape")
    at(page, "finding-f2")
    page.keyboard.press("Escape")
    at(page, "verdict")


def test_j_and_k_turn_the_pages_of_the_list(visit):
    page = visit(fragment="#segments")
    for number in range(1, 22):
        press_until_focused(page, "j", f"item-segment-{number}")
    assert fragment(page) == "segments?page=2"
    press_until_focused(page, "k", "item-segment-20")
    assert fragment(page) == "segments"


def test_back_and_forward_go_through_the_views(visit):
    page = visit()
    page.click(".top li:first-child a")
    at(page, "finding-f1")
    page.click("#item-finding-f1 h3 a")
    at(page, "segments?finding=f1")
    page.select_option("[name=sort]", "loss")
    at(page, "segments?finding=f1&sort=loss")
    order = listed(page)
    page.go_back()
    at(page, "segments?finding=f1")
    assert page.input_value("[name=sort]") == "carried"
    page.go_back()
    at(page, "finding-f1")
    page.go_forward()
    page.go_forward()
    at(page, "segments?finding=f1&sort=loss")
    assert listed(page) == order
    assert page.input_value("[name=sort]") == "loss"


def test_help_is_shown_and_letters_are_letters_where_one_types(visit):
    page = visit()
    page.keyboard.press("?")
    assert page.is_visible("dialog .keys")
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("jk?/")
    assert page.input_value("#search") == "jk?/"
    assert page.locator("dialog").count() == 0
    page.keyboard.press("Escape")
    assert focused(page) == ""


# Scoreboard.


def test_the_scoreboard_sorts_and_shows_differences(visit):
    page = visit("many")
    names = page.locator("#scores tbody th")
    by_bleu = names.all_inner_texts()
    assert by_bleu[0] == "Pu-1 baseline"
    header = page.locator("#scores thead th.number", has_text=re.compile("^TER "))
    header.locator("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    scores = [float(text.split()[0]) for text in _column(page, 5)]
    assert scores == sorted(scores)
    header.locator("button").click()
    assert names.all_inner_texts() != by_bleu
    scores = [float(text.split()[0]) for text in _column(page, 5)]
    assert scores == sorted(scores, reverse=True)
    page.click("text=Differences to Pu-1")
    assert _column(page, 1)[-1] == "–"
    assert all(text.startswith("−") for text in _column(page, 1)[:-1])
    assert page.get_attribute("[data-view=differences]", "aria-pressed") == "true"


def _column(page, number):
    return page.locator(f"#scores tbody td:nth-child({number + 1})").all_inner_texts()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["demo", "many"])
def test_each_metric_has_a_plot_whose_labels_do_not_overlap(visit, name, viewport):
    page = visit(name, viewport=viewport)
    page.wait_for_function("() => document.querySelectorAll('#dots svg').length === 4")
    systems = 2 if name == "demo" else 19
    for chart in page.locator("#dots svg").all():
        boxes = [label.bounding_box() for label in chart.locator(".label").all()]
        assert len(boxes) == systems
        frame = chart.bounding_box()
        assert all(box["x"] >= frame["x"] for box in boxes)
        for upper, lower in pairwise(boxes):
            assert upper["y"] + upper["height"] <= lower["y"] + lower["height"] / 2
    assert "lower is better" in page.inner_text("#dots figure:nth-child(3)")


# Findings.


def test_findings_are_filtered_and_the_address_restores_the_filter(visit):
    page = visit("many")
    assert page.locator("#findings > .finding").count() == 10
    page.click("#more")
    at(page, "where?most=20")
    assert page.locator("#findings > .finding").count() == 20
    page.click("[data-kind=fault]")
    at(page, "where?kind=fault")
    tags = page.locator("#findings > .finding .tag:first-of-type").all_inner_texts()
    assert set(tags) == {"Surface faults"}
    assert page.get_attribute("[data-kind=fault]", "aria-pressed") == "true"
    page.check("#established")
    at(page, "where?kind=fault&established=yes")
    assert page.locator("#findings .unsure").count() == 0
    page.click("[data-kind='']")
    pair = page.locator("#pair option").nth(3).inner_text()
    page.select_option("#pair", pair)
    page.wait_for_function("() => location.hash.includes('pair=')")
    titles = page.locator("#findings > .finding .what > p:first-of-type").all_inner_texts()
    system = pair.split(" against ")[0]
    assert titles
    assert all(title.startswith(f"{system} is") for title in titles)
    page.reload()
    assert page.locator("#findings > .finding .what > p:first-of-type").all_inner_texts() == titles
    assert page.input_value("#pair") == pair


def test_findings_that_are_not_established_say_so(visit):
    page = visit("many")
    while page.is_visible("#more"):
        page.click("#more")
    unsure = page.locator("#findings > .finding.unsure")
    assert unsure.count() > 0
    for item in unsure.all():
        assert "not established" in item.inner_text()
        assert item.locator("circle.hollow").count() == 1


def test_what_says_the_same_is_folded_under_its_finding(visit):
    page = visit()
    assert not page.is_visible("#item-finding-f9")
    page.click("#item-finding-f5 summary")
    assert page.is_visible("#item-finding-f9")
    page = visit(fragment="#finding-f9")
    page.wait_for_selector("#item-finding-f9")
    assert focused(page) == "item-finding-f9"


def test_a_finding_that_a_filter_hides_is_shown_by_its_address(visit):
    page = visit(fragment="#where?kind=fault")
    assert page.locator("#item-finding-f1").count() == 0
    page.evaluate("location.hash = '#finding-f1'")
    page.wait_for_selector("#item-finding-f1:focus")
    page.evaluate("location.hash = '#finding-f24'")
    page.wait_for_selector("#item-finding-f24:focus")


# Segments.


def test_search_finds_text_in_all_systems_and_the_address_keeps_it(visit):
    page = visit()
    page.keyboard.press("/")
    page.keyboard.type("WACKERNAGEL")
    page.wait_for_function("() => location.hash === '#segments?q=WACKERNAGEL'")
    page.wait_for_function("() => document.querySelector('#status').innerText.includes('with')")
    found = listed(page)
    texts = page.locator("#list .segment").all_inner_texts()
    assert found
    assert all("wackernagel" in text.lower() for text in texts)
    assert page.evaluate("CSS.highlights.get('search').size") >= len(found)
    page.reload()
    assert listed(page) == found
    assert page.input_value("#search") == "WACKERNAGEL"
    page.click("text=show all")
    at(page, "segments")
    assert page.input_value("#search") == ""
    page.fill("#search", "no such text anywhere")
    page.wait_for_selector("text=No segment passes these filters.")


def test_segments_are_filtered_by_all_that_is_known_of_them(visit):
    payload = PAYLOADS["demo"]()
    segments = payload["segments"]
    part = payload["slices"][0]
    document = segments["documents"][0]
    scores = segments["scores"]["chrf"]["birch"]
    page = visit(fragment="#segments")

    def found():
        return int(page.inner_text("#status b").replace(",", ""))

    page.select_option("[name=slice]", part["id"])
    page.wait_for_function("() => location.hash.includes('slice=')")
    assert found() == len(part["segments"])
    page.select_option("[name=slice]", "")
    page.select_option("[name=document]", document)
    page.wait_for_function("() => location.hash.includes('document=')")
    assert found() == segments["documents"].count(document)
    page.select_option("[name='label.domain']", "web")
    page.wait_for_function("() => location.hash.includes('label.domain=')")
    both = [
        number
        for number, (own, label) in enumerate(
            zip(segments["documents"], segments["labels"]["domain"], strict=True), 1
        )
        if own == document and label == "web"
    ]
    assert listed(page) == both
    page.goto(page.url.split("#")[0] + "#segments?fault=numbers")
    faults = {number for own in segments["faults"].values() for number in own["numbers"]}
    page.wait_for_function(
        "size => document.querySelector('#status b').innerText == size", arg=len(faults)
    )
    page.goto(page.url.split("#")[0] + "#segments?metric=chrf")
    page.fill("[name=low]", "50")
    page.keyboard.press("Tab")
    page.wait_for_function("() => location.hash.includes('low=50')")
    page.fill("[name=high]", "60")
    page.keyboard.press("Tab")
    page.wait_for_function("() => location.hash.includes('high=60')")
    inside = [score for score in scores if score is not None and 50 <= round(score, 2) <= 60]
    assert found() == len(inside)
    page.reload()
    assert found() == len(inside)
    assert page.input_value("[name=low]") == "50"


def test_segments_are_sorted_by_difference_and_by_score(visit):
    scores = PAYLOADS["demo"]()["segments"]["scores"]["ter"]
    page = visit(fragment="#segments?metric=ter&sort=loss")
    gaps = {
        number: round(own, 2) - round(other, 2)
        for number, (own, other) in enumerate(zip(scores["birch"], scores["atlas"], strict=True), 1)
        if own is not None and other is not None
    }
    # A loss by TER is a higher score.
    assert listed(page) == sorted(gaps, key=lambda number: (-gaps[number], number))[:20]
    page.select_option("[name=sort]", "lowest")
    page.wait_for_function("() => location.hash.includes('sort=lowest')")
    known = {number: round(s, 2) for number, s in enumerate(scores["birch"], 1) if s is not None}
    assert listed(page) == sorted(known, key=lambda number: (known[number], number))[:20]


def test_words_are_marked_against_the_other_system_and_the_reference(visit):
    page = visit(fragment="#segment-1")
    rows = page.locator("#item-segment-1 tbody tr")
    (birch,) = [row for row in rows.all() if row.locator("th").inner_text().startswith("birch")]
    output = PAYLOADS["demo"]()["segments"]["outputs"]["birch"][0]
    assert birch.locator(".text").inner_text() == output
    assert "Hallerath" in birch.locator("mark.bad").all_inner_texts()
    assert "swimming" in birch.locator("mark.good").all_inner_texts()
    page.goto(page.url.split("#")[0] + "#segments?marks=none")
    page.wait_for_function("() => document.querySelectorAll('#list mark').length === 0")
    page.select_option("[name=marks]", "reference")
    page.wait_for_selector("#list mark.bad")
    assert page.locator("#list mark.good").count() == 0


@pytest.mark.parametrize("more", [(), ("😀 And more.",)])
@pytest.mark.parametrize(
    ("side", "call"),
    [("hypothesis", "outputEffects(line, own)"),
     ("reference", "referenceEffects(line, own).words")],
)  # fmt: skip
def test_words_are_explained_as_assay_explain_does(visit, side, call, more):
    data = read_demo()
    references = [(line, *(f"{line} {rest}" for rest in more)) for line, *_ in data.references]
    data = replace(data, references=references)
    explanations = explain(data, "chrf", "erasure").explanations
    page = visit()
    for system, lines in data.systems.items():
        found = page.evaluate(
            f"pairs => pairs.map(([line, own]) => {call})",
            [[line, list(own)] for line, own in zip(lines, references, strict=True)],
        )
        for words, own in zip(found, explanations.of_side(system, side), strict=True):
            assert [word["text"] for word in words] == list(own.tokens)
            effects = [word["effect"] for word in words]
            np.testing.assert_allclose(effects, own.importances, atol=1e-9)


def test_explanations_are_one_key_away_and_have_an_address(visit):
    page = visit(fragment="#segments")
    page.keyboard.press("e")
    at(page, "segments?marks=effect")
    page.wait_for_selector("#list mark.bad-4, #list mark.good-4")
    assert page.locator("[name=marks]").input_value() == "effect"
    page.click("#item-segment-1 h3 a")
    at(page, "segment-1")
    birch = page.locator("#item-segment-1 tr", has_text="birch").locator(".text")
    assert birch.inner_text() == PAYLOADS["demo"]()["segments"]["outputs"]["birch"][0]
    word = birch.locator("[title$=chrF]").first
    assert re.fullmatch(r"[+−]?\d+\.\d\d chrF", word.get_attribute("title"))
    word.click()
    assert page.locator("#told").inner_text().endswith(word.get_attribute("title"))
    page.click("text=Which words differ?")
    at(page, "segment-1?marks=pair")
    assert birch.locator("[title$=chrF]").count() == 0
    page.keyboard.press("e")
    at(page, "segment-1?marks=effect")
    page.keyboard.press("j")
    at(page, "segment-2?marks=effect")
    page.reload()
    page.wait_for_selector("#item-segment-2 .given mark")
    page.keyboard.press("Escape")
    at(page, "segments")


@pytest.mark.parametrize("name", ["hostile", "bare"])
def test_explanations_of_strange_texts_do_no_harm(visit, name):
    page = visit(name, "#segments?marks=effect")
    page.wait_for_selector("#list .segment")
    texts = [
        list(map(visible, lines)) for lines in PAYLOADS[name]()["segments"]["outputs"].values()
    ]
    assert page.locator("[name=marks]").input_value() == ("pair" if name == "bare" else "effect")
    if name == "hostile":
        assert "not explained here" in page.locator("#list").inner_text()
        assert texts[0][0] in page.locator("#list").inner_text()
    assert page.title() != "pwned"


def test_of_many_systems_the_pair_is_shown_until_others_are_chosen(visit):
    page = visit("many", "#segments")
    first = page.locator("#list .segment").first
    assert first.locator("tbody tr:not(.given)").count() == 2
    page.click("summary:has-text('Systems shown')")
    page.click(".boxes label:has-text('Tatu-7')")
    page.wait_for_function("() => location.hash.includes('system=Tatu-7')")
    assert first.locator("tbody tr:not(.given)").count() == 3
    page.reload()
    assert first.locator("tbody tr:not(.given)").count() == 3
    page.click("#item-segment-4 h3 a")
    at(page, "segment-4")
    assert page.locator("#item-segment-4 tbody tr:not(.given)").count() == 19


def test_a_segment_says_what_it_belongs_to(visit):
    payload = PAYLOADS["demo"]()
    part = payload["slices"][0]
    page = visit(fragment=f"#segment-{part['segments'][0]}")
    page.click(f".belongs a:has-text('{part['name']}')")
    page.wait_for_function("() => location.hash.includes('slice=')")
    assert listed(page) == part["segments"][:20]


def test_addresses_of_nothing_do_no_harm(visit):
    page = visit(fragment="#segment-9999")
    for wanted in (
        "finding-none",
        "segments?finding=none&a=x&b=y&sort=x&page=99",
        "%",
        "segment-x",
    ):
        page.evaluate("to => { location.hash = to; }", wanted)
        page.wait_for_function("() => document.querySelectorAll('#list .segment').length === 20")


# Other parts.


def test_tables_below_lead_to_segments_and_back(visit):
    page = visit()
    page.click(".bar a[href='#section-words']")
    page.wait_for_selector("#section-words table")
    assert page.is_visible("#section-words table")
    link = page.locator("#section-words a[href^='#segment-']").first
    number = link.inner_text()
    link.click()
    at(page, f"segment-{number}")
    assert focused(page) == f"item-segment-{number}"
    page.keyboard.press("Escape")
    at(page, "section-words")
    page.locator("#section-words th button").nth(1).click()
    values = page.eval_on_selector_all(
        "#section-words td[data-value]", "cells => cells.map(cell => Number(cell.dataset.value))"
    )
    assert values == sorted(values, reverse=True)


def test_tables_are_copied_as_tsv_and_latex(visit):
    page = visit(script=KEEPS)
    page.click("#scoreboard >> text=Copy as TSV")
    page.click("#scoreboard >> text=Copy as LaTeX")
    page.click("#where >> text=Copy as TSV")
    page.wait_for_function("() => copied.length === 3")
    tsv, latex, findings = page.evaluate("copied")
    lines = [line.split("\t") for line in tsv.splitlines()]
    assert lines[0][:4] == ["system", "metric", "score", "low"]
    assert len(lines) == 1 + 2 * 4
    assert {len(line) for line in lines} == {12}
    assert "\\begin{tabular}{l" in latex
    assert latex.count("\\\\\n") == 3
    assert "BLEU \\ensuremath{\\uparrow}" in latex
    assert len(findings.splitlines()) == 1 + 22
    assert page.inner_text("#told") == "Copied."


def test_a_browser_that_refuses_the_clipboard_gets_the_text_selected(visit):
    page = visit(script=REFUSES)
    page.click("#scoreboard >> text=Copy as TSV")
    page.wait_for_selector("dialog textarea:focus")
    assert page.evaluate("getSelection().toString()").startswith("system\tmetric")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


@pytest.mark.parametrize("button", ["#dots button", "#where button:has-text('Download SVG')"])
def test_charts_are_saved_as_drawings(visit, button, tmp_path):
    page = visit()
    page.wait_for_selector("#dots svg")
    with page.expect_download() as download:
        page.locator(button).first.click()
    path = tmp_path / "chart.svg"
    download.value.save_as(path)
    assert download.value.suggested_filename.endswith(".svg")
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    circles = root.findall(".//{*}circle")
    assert circles
    assert all(circle.get("fill").startswith("rgb") for circle in circles)
    assert "var(" not in path.read_text("utf-8")


def test_colours_follow_the_system_until_the_reader_chooses(visit):
    page = visit(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != dark
    page.click("#theme")
    assert page.evaluate(ground) == dark
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == dark
    page.click("#theme")
    assert page.evaluate(ground) != dark


def test_print_shows_verdict_scoreboard_and_findings(visit):
    page = visit()
    page.emulate_media(media="print")
    for part in (".lead", "#scores", "#dots svg", "#item-finding-f1", "#how"):
        assert page.locator(part).first.is_visible()
    for part in (".bar", "#segments", ".tools", ".part"):
        assert not page.locator(part).first.is_visible()


def test_without_script_the_verdict_and_the_tables_can_be_read(visit):
    page = visit(java_script_enabled=False)
    for part in (".lead", ".top li", "#scores", "#how"):
        assert page.locator(part).first.is_visible()
    assert not page.is_visible("#where")
    assert not page.is_visible("#segments")
    assert "need JavaScript" in page.inner_text("main")


# Safety, access and size.


def test_hostile_text_is_shown_and_does_not_run(visit):
    page = visit("hostile", "#segments")
    assert page.title().startswith("hostile <script>")
    assert page.locator("script").count() == 2
    assert page.locator("img, main script, main style").count() == 0
    shown = page.locator("#list .segment .text").all_inner_texts()
    for text in HOSTILE[:5]:
        assert visible(text) in shown
    assert "(empty)" in shown
    buttons = page.locator("#item-segment-7 .text button")
    assert buttons.first.inner_text() == "… show all 10,000 characters"
    row = page.locator("#item-segment-7 tbody tr").first
    row.locator("button").click()
    assert row.locator(".text").inner_text() == "x" * 10_000
    page.fill("#search", "</script>")
    page.wait_for_function("() => location.hash.includes('q=')")
    assert page.locator("#list .segment").count() > 0
    page.click("#list .segment:first-child h3 a")
    page.wait_for_selector(".belongs")
    assert page.title().startswith("hostile <script>")
    assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"]


@pytest.mark.parametrize("name", ["bare", "single"])
def test_a_report_with_little_to_say_works_too(visit, name):
    page = visit(name, "#segments")
    assert len(listed(page)) == 20
    page.click("#item-segment-2 h3 a")
    at(page, "segment-2")
    assert "There are no findings." in page.inner_text("#where")


@pytest.mark.parametrize(
    ("name", "viewport", "scheme"),
    [("demo", DESK, "light"), ("demo", DESK, "dark"), ("demo", PHONE, "light"),
     ("demo", PHONE, "dark"), ("many", DESK, "dark"), ("many", PHONE, "light")],
)  # fmt: skip
def test_axe_finds_nothing_serious(visit, name, viewport, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="needs: pip install axe-playwright-python"
    ).Axe()
    page = visit(name, viewport=viewport, color_scheme=scheme)
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    _assert_accessible(axe, page)
    page.evaluate("location.hash = '#segment-3'")
    page.wait_for_selector("#item-segment-3:focus")
    page.keyboard.press("e")
    page.wait_for_selector("#item-segment-3 mark.good-4, #item-segment-3 mark.bad-4")
    _assert_accessible(axe, page)
    page.keyboard.press("?")
    _assert_accessible(axe, page)


def _assert_accessible(axe, page):
    violations = axe.run(page).response["violations"]
    grave = [
        (found["id"], found["help"], [node["html"] for node in found["nodes"][:3]])
        for found in violations
        if found["impact"] in ("serious", "critical")
    ]
    assert grave == []


@pytest.mark.parametrize("width", [360, 390, 800, 1280])
@pytest.mark.parametrize("name", ["demo", "many", "hostile"])
def test_nothing_is_wider_than_the_window(visit, name, width):
    page = visit(name, viewport={"width": width, "height": 800})
    page.wait_for_selector("#dots svg")
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("location.hash = '#segment-2'")
    page.wait_for_selector("#item-segment-2:focus")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_twenty_systems_with_three_thousand_segments_can_be_browsed(visit):
    page = visit("huge", "#segments?sort=loss&page=150")
    assert page.inner_text("#status") == "3,000 of 3,000 segments"
    assert len(listed(page)) == 20
    assert page.locator("*").count() < 5000
    (text,) = PAYLOADS["huge"]()["segments"]["references"][2999]
    page.fill("#search", text)
    page.wait_for_function("() => document.querySelector('#status b').innerText === '1'")
    assert listed(page) == [3000]
