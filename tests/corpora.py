"""Small corpora that the tests share: the demonstration set, and lines that break things."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import assay
from assay.data import Segment, reference_tuples

DEMO = Path(assay.__file__).parent / "demo"


class Texts(NamedTuple):
    """One system's lines beside K reference sets of as many lines; `None` is no reference."""

    hypotheses: list[str]
    references: list[list[str | None]]

    def segments(self) -> list[Segment]:
        """As the metrics take them."""
        names = {str(at): lines for at, lines in enumerate(self.references)}
        tuples = reference_tuples(names, len(self.hypotheses))
        return list(map(Segment, self.hypotheses, tuples))


def demo(name: str, count: int = 120) -> list[str]:
    """The first lines of a file of the demonstration set."""
    return (DEMO / name).read_text("utf-8").splitlines()[:count]


def read_lines(path: Path) -> list[str]:
    """The lines of a file, cut at newlines only."""
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def texts(count: int = 40, references: int = 1, system: str = "atlas") -> Texts:
    """A part of the demonstration set with up to three references."""
    names = ("ref.A.txt", "ref.B.txt", "systems/birch.txt")[:references]
    return Texts(demo(f"systems/{system}.txt", count), [demo(name, count) for name in names])


def uneven(count: int = 40) -> Texts:
    """Three sets of references with holes: every segment has one, two or three."""
    full = texts(count, references=3)
    holes = [
        [
            None if (at + which) % 3 == 0 and (at % 2 or which) else line
            for at, line in enumerate(lines)
        ]
        for which, lines in enumerate(full.references)
    ]
    return Texts(full.hypotheses, holes)


REFERENCES = {
    "one": texts(),
    "two": texts(references=2),
    "three": texts(references=3),
    "uneven": uneven(),
}

HOSTILE = {
    "empty": "",
    "blank": " ",
    "blanks": "    ",
    "tabs": "\tone\t\ttwo\t",
    "line separator": "a line\u2028separator, and\u2029a paragraph's",
    "next line": "next\u0085line",
    "file separator": "file\x1cgroup\x1drecord\x1eunit\x1fends.",
    "wide blanks": "no\u00a0break\u3000wide\u2009thin\u200bzero",
    "null": "a\x00b \x00 c",
    "lone surrogates": "\ud800 high and low \udfff, ab\udc80cd",
    "emoji": "👩‍👩‍👧‍👦 family, 🇩🇪 flag, 👍🏽 thumb!",
    "combining": "e\u0301te\u0301 vs été, a\u0308\u0323",
    "right to left": "שלום, עולם! مرحبا بالعالم؟ \u202eabc\u202c",
    "asian": "我们在2018年1月去了北京。今天天气很好，对吧？ 東京タワーへ行く。한국어 문장입니다.",
    "punctuation": "... !?;: -- ,., .,. ''\"\" ()[]{}<>@#$%^&*~`|\\/_+=",
    "numbers": "1,000.5 -3.14 1.-2 3,,4 5..6 .5, 7. 8, 9-10 1--2 ١٢٣٫٤ Ⅷ. ½,¾ x.1 1.x 2.",
    "entities": "&quot;A &amp; B&quot; &lt;tag&gt; &amp;lt; &amp;amp;quot; &apos; & &",
    "skipped": "before <skipped> after<skipped>.",
    "hyphen at the end of a line": "a hyphen-\nated word-\n",
    "newlines": "first line\nsecond line.\r\nthird,\n\nlast\n",
    "case": "İstanbul'da IŞIK ẞ ς Σ ǅ ŉ K",
    "one letter": "a",
    "one stop": ".",
    "one word 5,000 times": "word " * 5000,
    "long word": "supercalifragilistic" * 500,
    "long line": " ".join(f"w{at % 997}," if at % 7 else "the" for at in range(10_000)),
}


def hostile(lines: Sequence[str] = tuple(HOSTILE.values())) -> Texts:
    """Hostile lines against themselves, each other and plain text, with two references."""
    plain = demo("ref.A.txt", len(lines))
    turned = [*lines[1:], lines[0]]
    return Texts(
        [*lines, *lines, *plain, *lines],
        [[*lines, *plain, *lines, *turned], [*plain, *turned, *turned, *plain]],
    )


SHORT = tuple(line for line in HOSTILE.values() if len(line) < 1000)
