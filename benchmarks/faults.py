"""How well surface faults are found: faults planted in real outputs, and false alarms.

A table in Markdown, as docs/metrics.md has it. Each fault is planted in 5 % of a system's segments:
recall is the share of these that is found, and precision the share of the alarms that are planted.
Some alarms are faults that the system has by itself, so that precision is a lower bound. False
alarms on human translations are those on references that are judged as if they were outputs, by
their sources alone. Other test sets are named as arguments: wmt18/cs-en wmt18/fi-en.
"""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.data import Segment
from assay.metrics.faults import Fault

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
SETS = ("wmt21/de-en", "wmt18/ru-en", "wmt18/zh-en", "wmt20/en-de", "wmt18/en-zh")
SHARE = 0.05
ROUNDS = 4
"""Systems of each test set that faults are planted in."""
FEWEST = 20
"""Of fewer planted faults nothing is told."""
SEED = 12345


class TestSet(NamedTuple):
    """Source, references and outputs of a language pair."""

    name: str
    languages: tuple[str, str]
    sources: list[str]
    references: list[list[str]]
    systems: dict[str, list[str]]

    def segments(self, lines: Sequence[str], *, references: bool) -> list[Segment]:
        """Segments with the first reference, or without any."""
        kept = self.references[:1] if references else []
        tuples = list(zip(*kept, strict=True)) if kept else [()] * len(lines)
        return list(map(Segment, lines, tuples, self.sources))


Plant = Callable[[Segment, random.Random, list[str]], Segment | None]
"""A segment with a fault, None where it cannot be planted; the lines are of another language."""


def main() -> None:
    names = sys.argv[1:] or SETS
    sets = [read(DATA / name) for name in names if (DATA / name).is_dir()]
    if not sets:
        sys.exit(f"needs the WMT data in {DATA}")
    foreign = foreign_lines()
    heads = [each.name for each in sets]
    print(f"| kind | {' | '.join(heads)} | precision | false alarms on human translations, % |")
    print("|---|" + "--:|" * (len(sets) + 2))
    for kind in PLANTS:
        found = [measured(kind, each, foreign) for each in sets]
        recalls = [f"{each.alone:.2f} / {each.both:.2f}".replace("nan / nan", "") for each in found]
        precision = np.nanmean([each.precision for each in found])
        humans = ", ".join(f"{each.humans:.1f}" for each in found)
        print(f"| {kind} | {' | '.join(recalls)} | {precision:.2f} | {humans} |", flush=True)


def read(folder: Path) -> TestSet:
    """One pair's texts."""
    source, target = folder.name.split("-")
    references = [lines(path) for path in sorted(folder.glob("ref*.txt"))]
    systems = {path.stem: lines(path) for path in sorted((folder / "systems").glob("*.txt"))}
    name = f"{folder.parent.name} {folder.name}"
    return TestSet(name, (source, target), lines(folder / "src.txt"), references, systems)


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def foreign_lines() -> dict[str, list[str]]:
    """Lines of several languages, to be taken for outputs."""
    files = {"cs": "wmt18/cs-en/src.txt", "fi": "wmt18/fi-en/src.txt", "tr": "wmt18/tr-en/src.txt"}
    files |= {"de": "wmt18/en-de/ref.txt", "en": "wmt18/de-en/ref.txt", "ru": "wmt18/ru-en/src.txt"}
    return {code: lines(DATA / name) for code, name in files.items() if (DATA / name).is_file()}


class Figures(NamedTuple):
    """What was found: recall with the source alone and with a reference, precision, alarms."""

    alone: float
    both: float
    precision: float
    humans: float


def measured(kind: str, data: TestSet, foreign: dict[str, list[str]]) -> Figures:
    """The figures of one kind of fault on one test set, over some systems."""
    source, target = data.languages
    fault = Fault.from_options(
        {"kind": kind.partition(",")[0], "source": source, "target": target}.items()
    )
    others = [line for code, some in foreign.items() if code != data.languages[1] for line in some]
    names = sorted(data.systems)
    chosen = names[:: max(1, len(names) // ROUNDS)][:ROUNDS]
    results = []
    for references in (False, True):
        hits, planted, alarms = 0.0, 0, 0.0
        for number, name in enumerate(chosen):
            rng = random.Random(f"{SEED} {kind} {data.name} {number}")
            segments = data.segments(data.systems[name], references=references)
            damaged, where = plant(kind, segments, rng, others)
            flags = np.nan_to_num(fault.flags(damaged))
            hits += flags[where].sum()
            planted += len(where)
            alarms += flags.sum()
        enough = planted >= FEWEST
        results.append((hits / planted if enough else np.nan, hits / alarms if enough else np.nan))
    human = [
        np.nansum(fault.flags(data.segments(some, references=False))) / len(some)
        for some in data.references
    ]
    return Figures(results[0][0], results[1][0], results[1][1], 100 * float(np.mean(human)))


def plant(
    kind: str, segments: list[Segment], rng: random.Random, foreign: list[str]
) -> tuple[list[Segment], list[int]]:
    """The segments with that fault in 5 % of them, and in which."""
    changed = list(segments)
    where: list[int] = []
    ways = PLANTS[kind]
    wanted = round(SHARE * len(segments))
    for at in rng.sample(range(len(segments)), len(segments)):
        if len(where) == wanted:
            break
        text = segments[at].hypothesis
        dense = kind in ("casing", "doubled") and re.search("[\u4e00-\u9fff]", text)
        if dense or len(text) < 20:
            continue
        way = ways[len(where) % len(ways)]
        made = way(segments[at], rng, foreign)
        if made is not None and made != segments[at]:
            changed[at] = made
            where.append(at)
    return changed, where


def on_output(change: Callable[[str, random.Random], str | None]) -> Plant:
    """A way to damage the output alone."""

    def planted(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment | None:
        made = change(segment.hypothesis, rng)
        return None if made is None else segment._replace(hypothesis=made)

    return planted


def units(text: str) -> list[str]:
    """Words with the blanks behind them; letters where there are hardly any blanks."""
    words = re.findall(r"\S+\s*", text)
    return words if len(words) > len(text) / 15 else list(text)


def without_end(share: float) -> Callable[[str, random.Random], str | None]:
    """The beginning, so many of the words."""
    return lambda text, rng: "".join(units(text)[: int(share * len(units(text)))]).rstrip()


def lengthened(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment:
    """Other text behind it, three times as much."""
    more = "".join(rng.sample(units(segment.hypothesis) * 4, 3 * len(units(segment.hypothesis))))
    return segment._replace(hypothesis=f"{segment.hypothesis} {more}")


def shortened(text: str, rng: random.Random) -> str | None:
    some = units(text)
    return "".join(some[: len(some) // 4]).rstrip(" ,") + "." if len(some) > 12 else None


def looped(text: str, rng: random.Random) -> str:
    """A phrase of one to six words, three to ten times."""
    some = units(text)
    size = rng.randint(1, 6)
    start = rng.randrange(max(1, len(some) - size))
    phrase = "".join(some[start : start + size]).strip(" .") + (" " if " " in text else "")
    times = rng.randint(5 if size == 1 else 3, 10)
    return "".join(some[:start]) + phrase * times + "".join(some[start + size :])


def copied(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment:
    return segment._replace(hypothesis=segment.source)


def nearly_copied(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment | None:
    some, own = units(segment.source), units(segment.hypothesis)
    if len(some) < 8 or len(own) < 8:
        return None
    return segment._replace(hypothesis="".join([*some[:-2], *own[-2:]]))


def partly_copied(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment | None:
    """Seven words (fourteen letters) of the source in the midst of the output."""
    some, own = units(segment.source), units(segment.hypothesis)
    size = 7 if len(some[0]) > 1 else 14
    if len(some) < size + 4 or len(own) < 12:
        return None
    start = rng.randrange(len(some) - size)
    middle = " ".join(["", "".join(some[start : start + size]).strip(), ""])
    return segment._replace(hypothesis="".join(own[:4]) + middle + "".join(own[9:]))


def another_language(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment | None:
    line = rng.choice(foreign)
    return segment._replace(hypothesis=line) if len(line) > 30 else None


def number_changed(text: str, rng: random.Random) -> str | None:
    found = [match for match in re.finditer(r"[1-9]", text)]
    if not found:
        return None
    at = rng.choice(found).start()
    return text[:at] + rng.choice("123456789".replace(text[at], "")) + text[at + 1 :]


def number_lost(text: str, rng: random.Random) -> str | None:
    found = list(re.finditer(r"\d+(?:[.,]\d+)*", text))
    if not found:
        return None
    start, end = rng.choice(found).span()
    return text[:start].rstrip() + " " + text[end:].lstrip()


def number_added(text: str, rng: random.Random) -> str:
    some = units(text)
    some.insert(rng.randrange(len(some)), f"{rng.randint(21, 9999)} ")
    return "".join(some)


def bracket_opened(text: str, rng: random.Random) -> str:
    some = units(text)
    some.insert(rng.randrange(len(some)), rng.choice(["(", '"', "[", "“", "« "]))
    return "".join(some)


def bracket_lost(text: str, rng: random.Random) -> str | None:
    found = [match.start() for match in re.finditer(r"[()\[\]\"“”„«»（）《》「」]", text)]
    if not found:
        return None
    at = rng.choice(found)
    return text[:at] + text[at + 1 :]


MARKUP = (
    ("<b>", ""), ("{name}", "{Name}"), ("%s", "% s"), ("https://www.example.org/a?b=1", ""),
    ("info@example.com", "info@example"), ("@anna_b", ""), ("<br/>", "< br / >"), ("{0}", "{ 0"),
    ("%(count)d", "%(Anzahl)d"), ("www.example.com", "www.example com"), ("${user}", "$ {user"),
    ('<a href="x.html">', "<a>"), ("{{date}}", "date"), ("$1", ""),
)  # fmt: skip


def marked(segment: Segment, rng: random.Random, foreign: list[str]) -> Segment:
    """Markup in source and references, lost or damaged in the output."""
    whole, damaged = rng.choice(MARKUP)
    hypothesis, references, source = segment
    return Segment(
        f"{damaged} {hypothesis}",
        tuple(f"{whole} {text}" for text in references),
        f"{whole} {source}",
    )


def small_start(text: str, rng: random.Random) -> str | None:
    made = text[:1].lower() + text[1:]
    return None if re.match(r"I\b|[A-Z]{2}", text) or not made[:1].islower() else made


def title_case(text: str, rng: random.Random) -> str | None:
    return re.sub(r"\b[a-z]", lambda first: first[0].upper(), text) if text.count(" ") > 8 else None


def final_lost(text: str, rng: random.Random) -> str | None:
    return re.sub(r"[.!?。！？]([\"”“’»)]*)\s*$", r"\1", text)


def final_changed(text: str, rng: random.Random) -> str | None:
    return re.sub(
        r"[.。?？]([\"”“’»)]*)\s*$",
        lambda mark: ("," if mark[0][0] in "?？" else "?") + mark[1],
        text,
    )


def mojibake(text: str, rng: random.Random) -> str | None:
    if text.isascii():
        return text.replace("'", "â€™") if "'" in text else None
    return text.encode("utf-8").decode("cp1252", "ignore")


def entity(text: str, rng: random.Random) -> str | None:
    made = text.replace("'", "&apos;").replace('"', "&quot;").replace("&", "&amp;")
    return made if made != text else text.replace(" ", "&nbsp;", 1)


def broken(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + rng.choice("\ufffd\x07\x9d") + text[at + 1 :]


def doubled(text: str, rng: random.Random) -> str | None:
    words = text.split(" ")
    places = [at for at, word in enumerate(words) if word.isalpha() and word.isascii()]
    if len(places) < 4:
        return None
    at = rng.choice(places)
    return " ".join([*words[:at], words[at], *words[at:]])


PLANTS: dict[str, tuple[Plant, ...]] = {
    "empty": (on_output(lambda text, rng: ""), on_output(lambda text, rng: rng.choice(" .-"))),
    "cut, half": (on_output(without_end(0.5)),),
    "cut, 70 % left": (on_output(without_end(0.7)),),
    "length": (lengthened, on_output(shortened)),
    "loop": (on_output(looped),),
    "copied": (copied, nearly_copied, partly_copied),
    "language": (another_language,),
    "numbers": tuple(map(on_output, (number_changed, number_lost, number_added))),
    "brackets": tuple(map(on_output, (bracket_opened, bracket_lost))),
    "markup": (marked,),
    "casing": tuple(
        map(
            on_output,
            (
                lambda text, rng: text.lower(),
                lambda text, rng: text.upper(),
                small_start,
                title_case,
            ),
        )
    ),
    "punctuation": tuple(map(on_output, (final_lost, final_changed))),
    "characters": tuple(map(on_output, (mojibake, entity, broken))),
    "doubled": (on_output(doubled),),
}


if __name__ == "__main__":
    main()
