"""Planted faults: whether `compare` finds what was done to a system, and nothing else.

Takes real systems, damages a known share of the segments in which a fault can occur, and asks where
the right finding stands; then swaps two real systems at random, segment by segment, and asks if
anything is found at all. Needs ../shared/data.

    python benchmarks/planted.py             everything, about half an hour on two cores
    python benchmarks/planted.py --quick     a tenth of it
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
SETS = ("wmt21/de-en", "wmt18/ru-en", "wmt18/fi-en")
RATES = (0.02, 0.05, 0.10, 0.30)

NEGATION = re.compile(r"\b(?:not|never|no|cannot)\b ?|n't\b", re.IGNORECASE)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Damage:
    """What is done to a line, to which lines it can be done, and which findings name it."""

    name: str
    can: Callable[[str, str], bool]
    do: Callable[[str, str, random.Random], str]
    named: Callable[[dict[str, Any]], bool]


def _is(kind: str, *words: str) -> Callable[[dict[str, Any]], bool]:
    return lambda finding: (
        finding["kind"] == kind and any(word in finding["slice"] for word in words)
    )


def _any(*tests: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], bool]:
    return lambda finding: any(test(finding) for test in tests)


def _digits(line: str, source: str, rng: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        return str((int(found[0]) + rng.randint(1, 9)) if len(found[0]) < 15 else 7)

    return DIGITS.sub(other, line)


def _garble(line: str, source: str, rng: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        letters = list(found[0][1:])
        rng.shuffle(letters)
        return found[0][0] + "".join(letters[:-1]) + rng.choice("aeioux")

    return NAME.sub(other, line)


def _cut(line: str, source: str, rng: random.Random) -> str:
    words = line.split()
    return " ".join(words[: max(1, int(len(words) * rng.uniform(0.4, 0.7)))])


def _loop(line: str, source: str, rng: random.Random) -> str:
    words = line.split()
    at = rng.randint(1, len(words) - 1)
    phrase = words[at : at + rng.randint(1, 3)]
    return " ".join([*words[:at], *(phrase * rng.randint(4, 8)), *words[at:]])


def _articles(line: str, source: str, rng: random.Random) -> str:
    return re.sub(r"\b(?:the|an?) ", "", line)


def _pronouns(line: str, source: str, rng: random.Random) -> str:
    swap = {"he": "she", "she": "he", "his": "her", "her": "his", "him": "her"}
    swap |= {word.capitalize(): other.capitalize() for word, other in swap.items()}
    return re.sub(r"\b(?:he|she|his|her|him)\b", lambda m: swap[m[0]], line, flags=re.IGNORECASE)


def _typos(line: str, source: str, rng: random.Random) -> str:
    words = line.split()
    long = [at for at, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    for at in rng.sample(long, min(2, len(long))):
        word = words[at]
        place = rng.randint(1, len(word) - 3)
        words[at] = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return " ".join(words)


def _commas(line: str, source: str, rng: random.Random) -> str:
    return line.replace(",", "")


def _past(line: str, source: str, rng: random.Random) -> str:
    swap = {"was": "is", "were": "are", "had": "has", "said": "says", "did": "does"}
    return re.sub(r"\b(?:was|were|had|said|did)\b", lambda m: swap[m[0]], line)


def _quotes(line: str, source: str, rng: random.Random) -> str:
    return re.sub('["“”„]', "", line)


def _half_translated(line: str, source: str, rng: random.Random) -> str:
    words, foreign = line.split(), source.split()
    half = len(words) // 2
    return " ".join([*words[:half], *foreign[len(foreign) // 2 :]])


def _question(line: str, source: str, rng: random.Random) -> str:
    return line.replace("?", ".")


def _mojibake(line: str, source: str, rng: random.Random) -> str:
    return (
        line.encode().decode("cp1252", "replace")
        if not line.isascii()
        else line.replace("'", "â€™")
    )


def _words(line: str, source: str) -> bool:
    return len(line.split()) > 5


_NUMBERS = _any(
    _is("fault", "numbers"), _is("text", "number"),
    _is("words", "numbers", "NUM", "CARDINAL", "NumType", "DATE", "NumForm"),
)  # fmt: skip
_NAMES = _any(
    _is("words", "PROPN", "capitalised", "PERSON", "ORG", "GPE", "nowhere else", "names"),
    _is("text", "name"),
)
_LENGTH = _any(_is("fault", "cut", "length", "punctuation"), _is("text", "words"))
_COPY = _any(_is("fault", "copied", "language"))

DAMAGES = [
    Damage("digits changed", lambda line, _: bool(DIGITS.search(line)), _digits, _NUMBERS),
    Damage("names garbled", lambda line, _: bool(NAME.search(line)), _garble, _NAMES),
    Damage("negation dropped", lambda line, _: bool(NEGATION.search(line)),
           lambda line, source, rng: NEGATION.sub("", line),
           _any(_is("text", "negation"), _is("words", "negation", "Polarity"),
                _is("phrases", "not", "n't", "no", "never"))),
    Damage("long outputs cut", lambda line, _: len(line.split()) > 20, _cut, _LENGTH),
    Damage("loops", _words, _loop, _is("fault", "loop", "length", "doubled")),
    Damage("lower case", lambda line, _: line.lower() != line,
           lambda line, source, rng: line.lower(),
           _any(_is("fault", "casing"), _is("words", "capitalised", "PROPN"))),
    Damage("copies of the source", _words, lambda line, source, rng: source, _COPY),
]  # fmt: skip

OTHERS = [
    Damage("articles dropped", lambda line, _: bool(re.search(r"\b(?:the|an?) ", line)), _articles,
           _any(_is("phrases", "the", "a"), _is("words", "DET", "function", "Definite"))),
    Damage("pronouns swapped", lambda line, _: bool(re.search(r"\b(?:he|she|his|her|him)\b", line)),
           _pronouns, _any(_is("phrases", "he", "she", "his", "her"),
                           _is("words", "PRON", "Gender"))),
    Damage("typing errors", lambda line, _: sum(len(w) > 5 for w in line.split()) > 1, _typos,
           _any(_is("words", "nowhere else", "long", "letters"))),
    Damage("commas dropped", lambda line, _: "," in line, _commas,
           _any(_is("phrases", "“,"), _is("words", "punctuation", "PUNCT", "PunctType"))),
    Damage("tense changed", lambda line, _: bool(re.search(r"\b(?:was|were|had|said|did)\b", line)),
           _past, _any(_is("words", "Tense", "AUX", "VerbForm"),
                       _is("phrases", "was", "were", "had", "said", "did", "is", "are", "has"))),
    Damage("quotes dropped", lambda line, _: bool(re.search("[\"“”„]", line)), _quotes,
           _any(_is("text", "quot"), _is("words", "quot", "PUNCT"), _is("fault", "brackets"),
                _is("phrases", "\"", "“"))),
    Damage("half untranslated", _words, _half_translated,
           _any(_is("fault", "copied", "language"), _is("words", "nowhere"))),
    Damage("questions made statements", lambda line, _: "?" in line, _question,
           _any(_is("text", "question"), _is("phrases", "?"), _is("fault", "punctuation"))),
    Damage("emptied", lambda line, _: bool(line), lambda *_: "", _is("fault", "empty")),
    Damage("broken characters", lambda line, _: "'" in line or not line.isascii(), _mojibake,
           _any(_is("fault", "characters"), _is("words", "nowhere"))),
    Damage("final stop dropped", lambda line, _: line.endswith("."), lambda line, *_: line[:-1],
           _any(_is("fault", "punctuation"), _is("phrases", "."), _is("words", "punct", "PUNCT"))),
]  # fmt: skip


def load(name: str) -> Any:
    from assay.io import read_folder

    pair = name.rpartition("/")[2]
    data = read_folder(DATA / name, pair)
    machines = {n: lines for n, lines in data.systems.items() if "uman" not in n and "ref" not in n}
    return replace(data, systems=machines, human={})


def damaged(
    damage: Damage, lines: tuple[str, ...], sources: tuple[str, ...], rate: float, seed: int
) -> tuple[tuple[str, ...], int]:
    """The lines with the damage, and how many segments it changed."""
    rng = random.Random(f"{damage.name} {rate} {seed}")
    able = [
        at
        for at, (line, source) in enumerate(zip(lines, sources, strict=True))
        if damage.can(line, source)
    ]
    chosen = rng.sample(able, max(1, round(rate * len(able))))
    changed = list(lines)
    for at in chosen:
        changed[at] = damage.do(lines[at], sources[at], rng)
    return tuple(changed), sum(a != b for a, b in zip(lines, changed, strict=True))


def shuffled(data: Any, system: str, seed: int) -> tuple[tuple[str, ...], int, str]:
    """One document with its outputs in another order."""
    rng = random.Random(f"shuffle {seed}")
    documents = [doc for doc in dict.fromkeys(data.documents) if data.documents.count(doc) > 4]
    document = rng.choice(documents)
    places = [at for at, doc in enumerate(data.documents) if doc == document]
    moved = places[:]
    while any(a == b for a, b in zip(places, moved, strict=True)):
        rng.shuffle(moved)
    lines = list(data.systems[system])
    for at, other in zip(places, moved, strict=True):
        lines[at] = data.systems[system][other]
    touched = sum(a != b for a, b in zip(lines, data.systems[system], strict=True))
    return tuple(lines), touched, document


def first_place(
    records: list[dict[str, Any]], named: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Where the first right finding stands, and whether it is established."""
    for place, record in enumerate(records, 1):
        if named(record):
            p = record["p_adjusted"]
            return {"place": place, "established": p is not None and p < 0.05}
    return {"place": None, "established": False}


_CACHE: dict[str, Any] = {}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One run: a job with what it found."""
    import assay

    if job["set"] not in _CACHE:
        _CACHE[job["set"]] = load(job["set"])
    data = _CACHE[job["set"]]
    system, other = job["system"], job["other"]
    if job["damage"] == "none":
        rng = random.Random(f"swap {job['seed']} {system} {other}")
        one, two = data.systems[system], data.systems[other]
        keep = [rng.random() < 0.5 for _ in one]
        a = tuple(x if k else y for x, y, k in zip(one, two, keep, strict=True))
        b = tuple(y if k else x for x, y, k in zip(one, two, keep, strict=True))
        records = assay.compare(replace(data, systems={"a": a, "b": b})).records()
        least = min((r["p_adjusted"] for r in records if r["p_adjusted"] is not None), default=1.0)
        return {**job, "least": least}
    if job["damage"] == "one document shuffled":
        lines, touched, document = shuffled(data, system, job["seed"])
        named = _is("label", document)
    else:
        damage = next(each for each in (*DAMAGES, *OTHERS) if each.name == job["damage"])
        lines, touched = damaged(
            damage, data.systems[system], data.sources, job["rate"], job["seed"]
        )
        named = damage.named
    whole = data.systems[other]
    records = assay.compare(replace(data, systems={"whole": whole, "damaged": lines})).records()
    top = [(r["kind"], r["slice"], r["metric"]) for r in records[:5]]
    return {**job, "touched": touched, **first_place(records, named), "top": top}


def jobs(options: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    damages = [damage.name for damage in DAMAGES] + ["one document shuffled"]
    damages += [damage.name for damage in OTHERS] if options.others else []
    damages = [options.only] if options.only else damages
    for name in SETS[: options.sets]:
        systems = list(load(name).systems)
        for number in range(options.systems):
            system = systems[(3 * number) % len(systems)]
            like = systems[(3 * number + 1) % len(systems)]
            for seed in range(options.seeds):
                for damage in damages:
                    if damage == "one document shuffled":
                        if name.startswith("wmt21"):
                            found.append(job(name, system, system, damage, 0.0, seed))
                        continue
                    for rate in RATES:
                        found.append(job(name, system, system, damage, rate, seed))
                    found.append(job(name, system, like, damage, 0.30, seed))
                for extra in range(options.none):
                    found.append(job(name, system, like, "none", 0.0, 1000 * seed + extra))
    return found


def job(name: str, system: str, other: str, damage: str, rate: float, seed: int) -> dict[str, Any]:
    return {
        "set": name,
        "system": system,
        "other": other,
        "damage": damage,
        "rate": rate,
        "seed": seed,
    }


def report(results: list[dict[str, Any]]) -> str:
    """The tables of recall by kind of fault, and false alarms."""
    lines = []
    own = [r for r in results if r["damage"] != "none" and r["system"] == r["other"]]
    hard = [r for r in results if r["damage"] != "none" and r["system"] != r["other"]]
    none = [r for r in results if r["damage"] == "none"]
    lines.append(
        "| fault | 15 or more touched: runs | first 3 | established | 5 to 14: runs | first 3 "
        "| other system, 30 %: runs | first 5 |"
    )
    lines.append("|---|---|---|---|---|---|---|---|")
    names = list(dict.fromkeys(r["damage"] for r in results if r["damage"] != "none"))
    for name in [*names, "all"]:
        chosen = names if name == "all" else [name]
        many = [r for r in own if r["damage"] in chosen and r["touched"] >= 15]
        few = [r for r in own if r["damage"] in chosen and 5 <= r["touched"] < 15]
        other = [r for r in hard if r["damage"] in chosen]
        sure = _share(r["established"] for r in many)
        lines.append(
            f"| {name} | {len(many)} | {_within(many, 3)} | {sure} "
            f"| {len(few)} | {_within(few, 3)} | {len(other)} | {_within(other, 5)} |"
        )
    alarms = [r["least"] < 0.05 for r in none]
    lines.append("")
    lines.append(f"No fault: {len(none)} runs, any adjusted p < .05 in {_share(alarms)} of them.")
    return "\n".join(lines)


def _within(results: list[dict[str, Any]], places: int) -> str:
    return _share(r["place"] is not None and r["place"] <= places for r in results)


def _share(values: Any) -> str:
    values = list(values)
    return f"{100 * sum(values) / len(values):.0f} %" if values else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--systems", type=int, default=2, help="systems of each set")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument(
        "--none", type=int, default=20, help="runs without a fault for each of these"
    )
    parser.add_argument(
        "--others", action="store_true", help="also kinds of fault beyond the first eight"
    )
    parser.add_argument("--only", default="", help="one kind of fault")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--save", default="", help="write every run to a file (JSON Lines)")
    options = parser.parse_args()
    if options.quick:
        options.sets, options.systems, options.seeds, options.none = 1, 1, 1, 5
    if not DATA.is_dir():
        sys.exit("needs ../shared/data")
    start, results = time.time(), []
    todo = jobs(options)
    with ProcessPoolExecutor(2) as pool:
        for number, result in enumerate(pool.map(run, todo), 1):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(todo)}", end="", file=sys.stderr)
            if options.save:
                Path(options.save).write_text("\n".join(map(json.dumps, results)), "utf-8")
    print(report(results))
    print(f"{len(todo)} runs in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
