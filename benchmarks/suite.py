"""A test suite checked and reported, against the obvious procedure: `make bench`.

The 18 systems of WMT21 on the 2,748 German-English items of the public test suite, read from the
folder that ASSAY_DATA names (default: ../shared/data beside the project), or, where there is
none, the demo suite with its outputs repeated under many names.

The peer is the published procedure written out with `re`: for every system and item search the
two regular expressions, then look for the tokens. It has no time limit, so a bad pattern would
stop it, and decides equal outputs again and again; `re` keeps 512 compiled patterns. Both must
find the same verdicts.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from assay.rendering.html import html
from assay.rendering.text import text as render_text
from assay.suites.accuracy import accuracies
from assay.suites.check import FAIL, NOT_TESTED, PASS, WARNING, Checked, check, forget_patterns
from assay.suites.files import read_runs, read_suite
from assay.suites.model import Item, Run, Suite
from assay.suites.report import ReportResult

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
REPEATED = 20
"""How often the demo's systems are repeated."""

T = TypeVar("T")


def main() -> None:
    """Print seconds of each part, and how many times longer the obvious way takes."""
    suite, runs = _read()
    print(f"test suite: {len(runs)} systems x {len(runs[0].outputs)} items")
    reading, suite = _timed(lambda: read_suite(_folder() / "items.json"))
    checking, checked = min((_checked(suite, runs) for _ in range(3)), key=lambda each: each[0])
    obvious, codes = _timed(lambda: _obvious(checked.verdicts.items, runs))
    assert checked.verdicts.codes.tolist() == codes, "the verdicts differ"
    counting, found = _timed(lambda: accuracies(checked.verdicts))
    result = ReportResult(checked.verdicts, found)
    page, _ = _timed(lambda: html(result))
    text, _ = _timed(lambda: render_text(result, width=120))
    print(f"{'read':>8}{reading:>8.2f}s")
    print(f"{'check':>8}{checking:>8.2f}s{obvious:>8.2f}s{obvious / checking:>6.1f}x  the peer")
    print(f"{'report':>8}{counting:>8.2f}s  accuracies, intervals, first clusters")
    print(f"{'text':>8}{text:>8.2f}s")
    print(f"{'page':>8}{page:>8.2f}s  with its heat map")


def _folder() -> Path:
    real = DATA / "testsuite" / "de-en"
    return real if real.is_dir() else PROJECT / "src" / "assay" / "demo" / "suite"


def _read() -> tuple[Suite, list[Run]]:
    folder = _folder()
    suite = read_suite(folder / "items.json")
    real = sorted(folder.glob("wmt21/systems/*.txt"))
    if real:
        return suite, read_runs(suite, real, ids=folder / "wmt21" / "item_ids.txt")
    paths = sorted(folder.glob("autumn/*.txt"))
    runs = read_runs(suite, paths, ids=folder / "item_ids.txt")
    return suite, [
        Run(f"{run.system}-{number}", run.outputs) for number in range(REPEATED) for run in runs
    ]


def _checked(suite: Suite, runs: Sequence[Run]) -> tuple[float, Checked]:
    """Seconds with nothing compiled beforehand, and what was found."""
    forget_patterns()
    return _timed(lambda: check(suite, runs))


def _obvious(items: Sequence[Item], runs: Sequence[Run]) -> list[list[int]]:
    return [[_code(item, run.outputs.get(item.id, "")) for item in items] for run in runs]


def _code(item: Item, output: str) -> int:
    if not output.strip():
        return NOT_TESTED
    good = any(re.search(text, output) for text in item.texts("positive", "regex"))
    bad = any(re.search(text, output) for text in item.texts("negative", "regex"))
    if not good and not bad:
        good = _has_token(item.texts("positive", "fixed"), output)
        bad = _has_token(item.texts("negative", "fixed"), output)
    return WARNING if good == bad else PASS if good else FAIL


def _has_token(tokens: Sequence[str], output: str) -> bool:
    return any(token.strip() and token.strip() in output for token in tokens)


def _timed(function: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


if __name__ == "__main__":
    main()
