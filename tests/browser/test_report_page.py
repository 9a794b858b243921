"""The report in a real browser: it draws itself, and text in it never runs."""

import re
import shutil
import struct
import subprocess
from html import unescape
from html.parser import HTMLParser

import pytest

from assay.cli import main
from assay.comparison.favoritism import favor
from assay.data import Dataset
from assay.metrics.base import METRICS
from assay.rendering import render
from assay.results import Header, Table
from tests.given import Given
from tests.patience import PATIENCE

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's package chromium")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--v=0",
)
COMPLAINTS = ("Refused", "Uncaught", "violates the following Content Security Policy", "CONSOLE")
NASTY = (
    "<script>document.title='pwned'</script> "
    "<img src=x onerror=document.title='pwned'> "
    "<svg onload=document.title='pwned'> "
    "\"><b onmouseover=x> ' </td></table> &lt;i&gt; javascript:document.title='pwned'"
)


class Page(HTMLParser):
    """The elements of a page, with their attributes and the text inside."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.title, self._in_title = [], "", False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in_title = tag == "title" and not self.title

    def handle_data(self, data):
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag):
        self._in_title = False

    def count(self, wanted):
        return sum(tag == wanted for tag, _ in self.tags)


def browse(page, tmp_path, *options):
    """What the browser prints, and what it complains about."""
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, profile, *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    complaints = [line for line in done.stderr.splitlines() if any(c in line for c in COMPLAINTS)]
    return done.stdout, complaints


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of the demonstration."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", str(folder)]) == 0
    return folder / "report.html"


def test_the_browser_tells_what_it_refuses(tmp_path):
    page = tmp_path / "bad.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    page.write_text(f"<!doctype html>{policy}<script>document.title='pwned'</script><p>x")
    dom, complaints = browse(page, tmp_path, "--dump-dom")
    assert complaints
    assert Page(dom).title == ""
    page.write_text("<!doctype html><script>document.title='ran'; missing()</script><p>x")
    dom, complaints = browse(page, tmp_path, "--dump-dom")
    assert any("Uncaught" in line for line in complaints)
    assert Page(dom).title == "ran"


def test_the_demo_draws_its_tables_and_charts(report, tmp_path):
    dom, complaints = browse(report, tmp_path, "--dump-dom")
    assert complaints == []
    page, source = Page(dom), Page(report.read_text("utf-8"))
    assert page.title == "assay demo"
    assert page.count("table") >= source.count("table") > 10
    # The script has run: it draws the scoreboard's plots and the forest of findings, and every
    # heading of a table with several rows is a button.
    assert page.count("svg") > source.count("svg") >= 4
    assert page.count("button") > source.count("button") + 20


@pytest.mark.parametrize("size", [(1280, 2000), (390, 844)], ids=["desk", "phone"])
def test_the_demo_can_be_looked_at(report, tmp_path, size):
    picture = tmp_path / "page.png"
    window = f"--window-size={size[0]},{size[1]}"
    _, complaints = browse(report, tmp_path, f"--screenshot={picture}", window)
    assert complaints == []
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == size
    # A blank page packs into next to nothing.
    assert len(data) > 20_000


def test_a_click_sorts_a_table_and_rows_that_belong_together_stay_together(tmp_path):
    rows = [("b", 9.5, "nine"), (None, None, "more"), ("a", 10.0, "ten"), ("c", None, "none")]
    page = tmp_path / "sorted.html"
    source = render(Given([Table("Sorted", ("name", "score", "text"), rows)]), "html")
    source = re.sub(r"<meta http-equiv=[^>]*>", "", source)  # which lets no other script run
    for clicked, order in (
        ([0], ["ten", "nine", "more", "none"]),
        ([0, 0], ["none", "nine", "more", "ten"]),
        ([1], ["ten", "nine", "more", "none"]),
        ([1, 1], ["nine", "more", "ten", "none"]),
        ([2], ["nine", "more", "none", "ten"]),
    ):
        clicks = "".join(f"document.querySelectorAll('th button')[{at}].click();" for at in clicked)
        page.write_text(f"{source}<script>{clicks}</script>", "utf-8")
        dom, complaints = browse(page, tmp_path, "--dump-dom")
        assert complaints == []
        assert re.findall(r'<td class="text" dir="auto">(.*?)</td>', dom) == order


def test_hostile_text_is_shown_and_does_not_run(tmp_path):
    dataset = Dataset(
        {f"one {NASTY}": (NASTY, "x"), "two": ("y", "x")}, ((NASTY,), ("x",)), (NASTY, "x")
    )
    result = favor(dataset, METRICS.parse_all(["macrof", "bleu"]), count=2)
    header = {"title": f"hostile {NASTY}", "command": NASTY, "seed": 1, "inputs": []}
    page = tmp_path / "hostile.html"
    page.write_text(render(result.with_header(Header(**header)), "html"), "utf-8")
    dom, complaints = browse(page, tmp_path, "--dump-dom")
    assert complaints == []
    found = Page(dom)
    assert found.title == f"hostile {NASTY}"
    assert found.count("script") == 1
    assert found.count("img") == found.count("b") == 0
    handlers = [
        name for _, attributes in found.tags for name in attributes if name.startswith("on")
    ]
    assert handlers == []
    assert unescape(dom).count("<img src=x onerror=") > 5
