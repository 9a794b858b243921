"""Checks of the rules of an item against each other, of items, and of the suite as a whole."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import regex

from assay.data import DataError
from assay.suites.check import LIMIT, Hits, OutOfTime, RuleVerdict, decide, pattern_of
from assay.suites.lint.patterns import PatternPart, Problem, outline, quoted, walk
from assay.suites.model import Item, Rule, Suite

__all__ = ["ENOUGH", "TAXONOMY", "alike", "name_problems", "rule_problems", "structure_problems"]

_REFERENCE = re.compile(r"\\[1-9]|\\g<|\(\?(?:P=|[R&(]|P>|\d)")
"""What means a group that was read before, and so depends on where it stands."""

Branch = tuple[PatternPart, ...]


def rule_problems(item: Item, *, limit: float = LIMIT) -> Iterator[Problem]:
    """What is wrong with the rules of an item, the single patterns aside."""
    for problem in (
        *_sides(item),
        *_empty(item),
        *_both_sides(item),
        *_duplicates(item),
        *_judged(item, limit),
        *_branches(item, limit),
    ):
        yield replace(problem, item=item.id)


def _sides(item: Item) -> Iterator[Problem]:
    sides = {rule.polarity for rule in item.rules if _says_something(rule)}
    if not sides:
        yield Problem("error", "no-rule", f"nothing judges the outputs of {quoted(item.source)}")
    elif sides == {"positive"}:
        told = f"no negative rule: only a person can fail an output of {quoted(item.source)}"
        yield Problem("info", "one-sided", told)
    elif sides == {"negative"}:
        told = f"no positive rule: only a person can pass an output of {quoted(item.source)}"
        yield Problem("warning", "one-sided", told)


def _empty(item: Item) -> Iterator[Problem]:
    for rule in item.rules:
        if not _says_something(rule):
            message = f"a {rule.polarity} rule without text matches nothing; delete it"
            yield Problem("warning", "empty", message, rule=rule.id)


def _both_sides(item: Item) -> Iterator[Problem]:
    positive = {_key(rule): rule for rule in item.rules if rule.polarity == "positive"}
    for rule in _saying(item):
        if rule.polarity == "negative" and _key(rule) in positive:
            message = f"{quoted(rule.text)} is also positive ({positive[_key(rule)].id})"
            yield Problem("error", "both-sides", message, rule=rule.id)


def _duplicates(item: Item) -> Iterator[Problem]:
    known: dict[tuple[str, str, str], Rule] = {}
    for rule in _saying(item):
        first = known.setdefault((rule.polarity, *_key(rule)), rule)
        if first is not rule:
            message = f"{quoted(rule.text)} stands there already ({first.id})"
            yield Problem("info", "duplicate", message, rule=rule.id)


def _judged(item: Item, limit: float) -> Iterator[Problem]:
    """What the rules of an item say of each of its fixed strings, taken as an output."""
    rules = _searchable(item, limit)
    for rule in rules:
        if rule.kind == "regex":
            continue
        finding = decide(rule.text, rules, limit=limit)
        if finding.hits & Hits.TROUBLE:
            return
        if finding.verdict != _wanted(rule):
            yield _contradiction(rule, finding, item)
        elif others := [name for name in finding.matched if name != rule.id]:
            yield from _shadowed(rule, [other for other in rules if other.id in others])


def _contradiction(rule: Rule, finding: RuleVerdict, item: Item) -> Problem:
    told = f"{rule.polarity}, but {quoted(rule.text)}"
    others = [other for other in item.rules if other.id in finding.matched and other.id != rule.id]
    if finding.verdict == "warning":
        names = ", ".join(other.id for other in others)
        told += f" stays a warning, since rules of both sides match ({names})"
        return Problem("warning", "contradiction", told, rule=rule.id)
    by = next(other for other in others if other.id == finding.by)
    verb = "passes" if finding.verdict == "pass" else "fails"
    told += f" {verb} by {by.id}: {quoted(by.text)}"
    return Problem("error", "contradiction", told, rule=rule.id)


def _shadowed(rule: Rule, others: list[Rule]) -> Iterator[Problem]:
    """By the first rule of the same side that finds the string as well, copies of it aside."""
    same = [other for other in others if other.polarity == rule.polarity]
    by = next((other for other in same if _key(other) != _key(rule)), None)
    if by:
        message = f"{quoted(rule.text)} is found by {by.id} anyway: {quoted(by.text)}"
        yield Problem("info", "shadowed", message, rule=rule.id)


def _branches(item: Item, limit: float) -> Iterator[Problem]:
    """Branches of a regular expression that others in it make superfluous."""
    for rule in _searchable(item, limit):
        if rule.kind == "regex" and "|" in rule.text and not _REFERENCE.search(rule.text):
            for message in dict.fromkeys([*_twice(rule.text), *_longer(rule.text)]):
                told = f"{message}, in {quoted(rule.text)}"
                yield Problem("info", "shadowed", told, rule=rule.id)


def _twice(text: str) -> Iterator[str]:
    """Branches that stand twice in their group."""
    whole = outline(text)
    for branches in (whole, *(part.branches for part in walk(whole))):
        for at, branch in enumerate(branches):
            if branch in branches[:at]:
                yield f"the alternative {_written(branch)} stands twice"


def _longer(text: str) -> Iterator[str]:
    """Whole alternatives that contain another one: where they match, that one does."""
    branches = outline(text)
    for branch in dict.fromkeys(branches):
        others = (other for other in branches if other != branch and _contains(branch, other))
        if shorter := next(others, None):
            yield f"the alternative {_written(branch)} adds nothing to {_written(shorter)}"


def _contains(branch: Branch, other: Branch) -> bool:
    starts = range(len(branch) - len(other) + 1)
    return bool(other) and any(branch[at : at + len(other)] == other for at in starts)


def _written(branch: Branch) -> str:
    return quoted("".join(map(str, branch)))


def _searchable(item: Item, limit: float) -> list[Rule]:
    """The rules that can be searched at all; others are reported as patterns."""
    return [rule for rule in _saying(item) if _answers(rule, limit)]


def _answers(rule: Rule, limit: float) -> bool:
    try:
        pattern_of(rule).search("", limit=limit)
    except (DataError, OutOfTime):
        return False
    return True


def _saying(item: Item) -> list[Rule]:
    return [rule for rule in item.rules if _says_something(rule)]


def _says_something(rule: Rule) -> bool:
    return bool(rule.text.strip() if rule.kind == "fixed" else rule.text)


def _key(rule: Rule) -> tuple[str, str]:
    """What makes two rules match alike."""
    return rule.kind, rule.text.strip() if rule.kind == "fixed" else rule.text


def _wanted(rule: Rule) -> str:
    return "pass" if rule.polarity == "positive" else "fail"


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
