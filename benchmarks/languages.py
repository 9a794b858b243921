"""How often the language of a text is told right, by language and number of segments.

A table in Markdown, as docs/formats.md has it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.text import identify

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
SIZES = (50, 10, 1)
DRAWS = 500
SEED = 12345


class Text(NamedTuple):
    """Lines, and the language that they are in."""

    language: str
    lines: list[str]


def main() -> None:
    by_language: dict[str, list[Text]] = {}
    for text in texts(DATA):
        by_language.setdefault(text.language, []).append(text)
    heads = (f"{n} segment{'s' * (n > 1)}: right | wrong | unsure" for n in SIZES)
    print(f"| language | texts | {' | '.join(heads)} |")
    print("|---|--:" + "|--:" * 3 * len(SIZES) + "|")
    rng = np.random.default_rng(SEED)
    for language, some in sorted(by_language.items()):
        cells = [cell for size in SIZES for cell in shares(language, some, size, rng)]
        print(f"| {language} | {len(some)} | {' | '.join(cells)} |", flush=True)


def texts(folder: Path) -> Iterator[Text]:
    """Sources and references of WMT18, WMT20 and WMT21, and two more sources of Eval4NLP."""
    for path in sorted((*folder.glob("wmt*/*-*"), *folder.glob("qe/eval4nlp21/*-*"))):
        source, target = path.name.split("-")
        for language, pattern in ((source, "src.txt"), (target, "ref*.txt")):
            for file in sorted(path.glob(pattern)):
                yield Text(language, file.read_text("utf-8").split("\n"))


def shares(language: str, some: list[Text], size: int, rng: np.random.Generator) -> Iterator[str]:
    """Right, wrong and unsure in percent, over runs of segments drawn from all texts."""
    found: Counter[str] = Counter()
    for text in some:
        for start in rng.integers(len(text.lines) - size, size=DRAWS):
            code = identify(text.lines[start : start + size])
            found["unsure" if not code else "right" if code == language else "wrong"] += 1
    for kind in ("right", "wrong", "unsure"):
        yield f"{100 * found[kind] / found.total():.1f}"


if __name__ == "__main__":
    main()
