"""Checks of the suite as a whole: its parts, their sizes, and names spelt in two ways."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import regex

from assay.suites.lint.problems import Problem, quoted
from assay.suites.model import Item, Suite

__all__ = ["ENOUGH", "TAXONOMY", "alike", "name_problems", "structure_problems"]

_TENSES = ("future I", "perfect", "pluperfect", "present", "preterite")
_MOODS = ("future I subjunctive II", "pluperfect subjunctive II", "preterite subjunctive II")
_LATER = ("future II", "future II subjunctive II")
_VERBS = ("Ditransitive", "Intransitive", "Reflexive", "Transitive")

TAXONOMY: Mapping[str, tuple[str, ...]] = {
    "Ambiguity": ("Lexical ambiguity", "Structural ambiguity"),
    "Composition": ("Compound", "Phrasal verb"),
    "Coordination & ellipsis": ("Gapping", "Right node raising", "Sluicing", "Stripping"),
    "False friends": ("False friends",),
    "Function word": ("Focus particle", "Modal particle", "Question tag"),
    "LDD & interrogatives": (
        "Extended adjective construction",
        "Extraposition",
        "Multiple connectors",
        "Pied-piping",
        "Polar question",
        "Scrambling",
        "Topicalization",
        "Wh-movement",
    ),
    "MWE": ("Collocation", "Idiom", "Prepositional MWE", "Verbal MWE"),
    "Named entity & terminology": (
        "Date",
        "Domainspecific term",
        "Location",
        "Measuring unit",
        "Proper name",
    ),
    "Negation": ("Negation",),
    "Non-verbal agreement": ("Coreference", "External possessor", "Internal possessor"),
    "Punctuation": ("Comma", "Quotation marks"),
    "Subordination": (
        "Adverbial clause",
        "Cleft sentence",
        "Free relative clause",
        "Indirect speech",
        "Infinitive clause",
        "Object clause",
        "Pseudo-cleft sentence",
        "Relative clause",
        "Subject clause",
    ),
    "Verb tense/aspect/mood": (
        "Conditional",
        "Imperative",
        "Progressive",
        *(f"{verb} - {form}" for verb in _VERBS for form in (*_TENSES, *_MOODS, *_LATER)),
        *(f"{verb} - {form}" for verb in ("Modal", "Modal negated") for form in _TENSES + _MOODS),
    ),
    "Verb valency": (
        "Case government",
        "Mediopassive voice",
        "Passive voice",
        "Resultative predicates",
    ),
}
"""Categories, and the phenomena of each."""


SHORTEST = 5
"""Letters of a word in which a slip can be told from another word: I and II are two tenses."""

LONG = 9
"""Letters of a word that may have two slips."""


def name_problems(suite: Suite) -> Iterator[Problem]:
    """Names that are nearly another of the suite, or nearly one of the published suite."""
    categories = Counter(item.category for item in suite.items if item.category)
    phenomena = Counter(item.phenomenon for item in suite.items if item.phenomenon)
    published = [name for phenomena in TAXONOMY.values() for name in phenomena]
    yield from _problems("category", categories, TAXONOMY)
    yield from _problems("phenomenon", phenomena, published)


def alike(one: str, other: str) -> bool:
    """Whether two different names look like one: but for case, plural and signs, or a slip.

    >>> alike("Named entitiy", "Named entity"), alike("Subject clause", "Object clause")
    (True, False)
    """
    mine, yours = _words(one), _words(other)
    if "".join(mine) == "".join(yours):
        return one != other
    differing = [pair for pair in zip(mine, yours, strict=False) if pair[0] != pair[1]]
    return len(mine) == len(yours) and len(differing) == 1 and _slip(*differing[0])


def _problems(kind: str, names: Counter[str], published: Iterable[str]) -> Iterator[Problem]:
    for one, other in combinations(names, 2):
        if alike(one, other):
            rare, usual = sorted((one, other), key=lambda name: names[name])
            yield Problem(
                "warning",
                "similar-names",
                f"{kind} {rare!r} ({_items(names[rare])}) looks like {usual!r} "
                f"({_items(names[usual])})",
            )
    known = set(published)
    for name in names:
        near = next((other for other in published if alike(name, other)), None)
        if near and near not in names and name not in known:
            told = f"{kind} {name!r} ({_items(names[name])}) is {near!r} in the published suite"
            yield Problem("warning", "similar-names", told)


def _words(name: str) -> list[str]:
    """The words of a name without signs, case and plural; "and" is a sign."""
    words = regex.findall(r"[^\W_]+", name.casefold())
    return [_singular(word) for word in words if word != "and"]


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) >= SHORTEST and not word.endswith("ss") else word


def _slip(one: str, other: str) -> bool:
    """Whether one word is the other misspelt; slips seldom hit the first letter."""
    longer = max(len(one), len(other))
    if one[0] != other[0] or min(len(one), len(other)) < SHORTEST - 1 or longer < SHORTEST:
        return False
    return _distance(one, other) <= (2 if longer >= LONG else 1)


def _distance(one: str, other: str) -> int:
    """Letters to add, drop, change or swap."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and (a, b) == (other[j - 2], one[i - 2]):
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        rows.append(row)
    return rows[-1][-1]


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"


ENOUGH = 20
"""Items that a phenomenon needs (Avramidis et al., 2020)."""

NAMED = 3
"""Items of a group that are named."""


def structure_problems(suite: Suite) -> Iterator[Problem]:
    """What is wrong with the items, their rules aside, and with the suite as a whole."""
    yield from _incomplete(suite)
    yield from _languages(suite)
    yield from name_problems(suite)
    yield from _two_categories(suite)
    yield from _same_source(suite)
    yield from _few_items(suite)


def _incomplete(suite: Suite) -> Iterator[Problem]:
    for item in suite.items:
        if not item.source.strip():
            yield Problem("error", "no-source", "the source is empty", item.id)
        for what, name in (("category", item.category), ("phenomenon", item.phenomenon)):
            if not name.strip():
                yield Problem("error", "no-name", f"the {what} has no name", item.id)


def _languages(suite: Suite) -> Iterator[Problem]:
    pairs = Counter(item.languages for item in suite.items)
    if len(pairs) > 1:
        counts = ", ".join(f"{pair!r} ({number})" for pair, number in pairs.most_common())
        yield Problem(
            "warning", "languages", f"the items are of different language pairs: {counts}"
        )


def _two_categories(suite: Suite) -> Iterator[Problem]:
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for item in suite.items:
        places[item.phenomenon][item.category] += 1
    for phenomenon, categories in places.items():
        if len(categories) > 1:
            counts = ", ".join(f"{name!r} ({number})" for name, number in categories.most_common())
            yield Problem("warning", "two-categories", f"{phenomenon!r} stands in {counts}")


def _same_source(suite: Suite) -> Iterator[Problem]:
    """Within a phenomenon, one problem per item; across, one per pair of phenomena."""
    first: dict[str, Item] = {}
    across: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in suite.items:
        earlier = first.setdefault(" ".join(item.source.split()), item)
        if earlier is item or not item.source.strip():
            continue
        if earlier.phenomenon == item.phenomenon:
            told = f"{quoted(item.source)} is the source of item {earlier.id}, too"
            yield Problem("warning", "same-source", told, item.id)
        else:
            across[earlier.phenomenon, item.phenomenon].append(f"{earlier.id} = {item.id}")
    yield from (_shared(*names, items) for names, items in across.items())


def _shared(one: str, other: str, items: list[str]) -> Problem:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    sources = "a source" if len(items) == 1 else f"{len(items)} sources"
    told = f"{one!r} and {other!r} share {sources}: {', '.join(items[:NAMED])}{more}"
    return Problem("info", "same-source", told)


def _few_items(suite: Suite) -> Iterator[Problem]:
    sizes = Counter((item.category, item.phenomenon) for item in suite.items)
    for (category, phenomenon), number in sorted(sizes.items(), key=lambda pair: pair[1]):
        if number < ENOUGH:
            items = "1 item" if number == 1 else f"{number} items"
            told = f"{phenomenon!r} ({category}) has {items}, fewer than {ENOUGH}"
            yield Problem("warning", "few-items", told)
