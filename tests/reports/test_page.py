"""The page of a report as a file: what it holds, and that it can be trusted."""

import hashlib
import json
import math
import re
from base64 import b64encode

import pytest

from assay.reports.page import report_page
from tests.reports.payloads import HOSTILE, demo_payload, hostile_payload, synthetic_payload

MEGABYTE = 1_000_000


def embedded(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


def test_style_and_script_are_the_ones_that_the_policy_allows():
    page = report_page(demo_payload())
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)">', page)
    for name, pattern in (
        ("style", r"<style>(.*?)</style>"),
        ("script", r"<script>(.*?)</script>"),
    ):
        (text,) = re.findall(pattern, page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src &#39;sha256-{digest}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;")
    assert "unsafe" not in policy


def test_nothing_is_fetched():
    page = report_page(demo_payload())
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|import\(", page)


def test_the_data_comes_back_as_it_was():
    payload = demo_payload()
    data = embedded(report_page(payload))
    assert data["systems"] == payload["systems"]
    assert data["findings"] == payload["findings"]
    assert data["segments"]["outputs"] == payload["segments"]["outputs"]
    ours = payload["segments"]["scores"]["comet"]["birch"]
    theirs = data["segments"]["scores"]["comet"]["birch"]
    assert theirs == [None if score is None else round(score, 5) for score in ours]


def test_numbers_that_json_does_not_know_become_null():
    payload = demo_payload()
    payload["segments"]["scores"]["bleu"]["birch"][:2] = [math.nan, math.inf]
    payload["scoreboard"][0] |= {"low": math.nan, "score": math.nan}
    data = embedded(report_page(payload))
    assert data["segments"]["scores"]["bleu"]["birch"][:2] == [None, None]
    assert data["scoreboard"][0]["score"] is None


def test_hostile_text_ends_no_element():
    page = report_page(hostile_payload())
    page.encode("utf-8")  # no lone surrogate is left
    assert len(re.findall(r"<script", page)) == 2
    assert len(re.findall(r"</style", page)) == 1
    assert "\x00" not in page
    assert "\u2028" not in page
    assert "\u202e" not in page
    assert embedded(page)["segments"]["outputs"].keys() == {
        f"a {HOSTILE[0]}",
        f"b {HOSTILE[2]}",
    }


def test_the_scoreboard_is_sorted_and_sets_off_the_best():
    page = report_page(synthetic_payload(systems=5, segments=40))
    rows = re.findall(r'<th scope="row" dir="auto">(.*?)</th>\n<td class="number(.*?)"', page)
    assert "best" in rows[0][1]
    values = [float(value) for value in re.findall(r'</th>\n<td [^>]*data-value="(.*?)"', page)[:5]]
    assert values == sorted(values, reverse=True)


def test_a_report_without_anything_is_a_page():
    payload = demo_payload() | {"findings": [], "slices": [], "sections": [], "scoreboard": []}
    assert "The strongest findings" not in report_page(payload)


@pytest.mark.parametrize(("systems", "segments", "most"), [(19, 1000, 8), (20, 3000, 20)])
def test_a_large_report_is_small_enough_to_send(systems, segments, most):
    page = report_page(synthetic_payload(systems=systems, segments=segments, words=(15, 35)))
    assert len(page.encode()) < most * MEGABYTE


DECLARED = r"^(?:function|const|let|class) (\w+)"


def test_the_parts_of_the_script_name_nothing_twice():
    import re
    from collections import Counter
    from importlib import resources

    folder = resources.files("assay")
    paths = [folder / "rendering" / "page.js", *(folder / "reports" / "script").iterdir()]
    names = Counter(
        name
        for path in paths
        for name in re.findall(
            r"^(?:function|const|let|class) (\w+)", path.read_text("utf-8"), re.M
        )
    )
    assert [name for name, count in names.items() if count > 1] == []
