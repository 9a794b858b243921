"""What the store hands out: plain values, free of any database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.suites.check import Verdict
from assay.suites.model import Item, Kind, Polarity

__all__ = [
    "Assignment",
    "Case",
    "Change",
    "Choice",
    "DealPlan",
    "Decision",
    "Draft",
    "FilterChoices",
    "FilterCounts",
    "Filters",
    "MergePlan",
    "Note",
    "OutputState",
    "Person",
    "PersonsDeal",
    "Phenomenon",
    "Preview",
    "PreviewLine",
    "Progress",
    "Ratings",
    "Saved",
    "SavedSuite",
    "Scope",
    "Share",
    "StoredOutput",
    "StoredRun",
    "Team",
    "WorkOffer",
]

Choice = Literal["pass", "fail", "skip"]
"""What a person can say of an output."""

Scope = Literal["item", "phenomenon", "category", "suite"]
"""How far a new rule reaches; it is added to those items where it changes something."""


@dataclass(frozen=True)
class Person:
    """A person with a name; a `lead` deals work out, adjudicates and looks after people."""

    id: int
    name: str
    has_password: bool = False
    lead: bool = False


@dataclass(frozen=True)
class MergePlan:
    """What merging a person into another would move: outputs judged, by both of them, and so on.

    `share` are the outputs that the person was given to judge.
    """

    person: Person
    into: Person
    outputs: int
    both: int
    rules: int
    notes: int
    share: int

    @property
    def said(self) -> str:
        """What happened, for the history."""
        both = f", {self.both} of them judged by both" if self.both else ""
        return f"{self.person.name} into {self.into.name}: {self.outputs} judged outputs{both}"


@dataclass(frozen=True)
class StoredRun:
    """A run without its outputs."""

    id: int
    system: str
    campaign: str
    date: str
    outputs: int


@dataclass(frozen=True)
class Decision:
    """What one person says of one output."""

    id: int
    person: str
    verdict: Choice
    adjudication: bool
    time: str


@dataclass(frozen=True)
class StoredOutput:
    """A distinct output of an item: who produced it, what rules and people say of it.

    `systems` are written `system` or `system (campaign)` where there are several campaigns.
    """

    id: int
    text: str
    systems: tuple[str, ...]
    verdict: Verdict
    by: str | None
    ruled: Verdict
    disputed: bool
    version: int
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class Note:
    """What a person wrote on an item, or on one of its outputs; `flag` or `text` may be empty."""

    id: int
    item: str
    output: int | None
    person: str
    time: str
    flag: str
    text: str


@dataclass(frozen=True)
class Phenomenon:
    """What people wrote on a phenomenon, empty where nobody did, and how many items test it."""

    category: str
    name: str
    definition: str = ""
    examples: tuple[str, ...] = ()
    items: int = 0


@dataclass(frozen=True)
class Case:
    """All that a person needs to judge one output.

    `matches` are the item's rules that match: (rule id, start, end) in the output. `others` are
    the other distinct outputs of the same item, warnings first. `notes` are those on the item and
    on its outputs.
    """

    item: Item
    output: StoredOutput
    matches: tuple[tuple[str, int, int], ...]
    others: tuple[StoredOutput, ...]
    trouble: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    definition: Phenomenon | None = None


@dataclass(frozen=True)
class Filters:
    """Which outputs to look at; an empty field asks for all.

    `text` stands in the source or in the output, upper or lower case. `verdict` may also be
    "disputed". `person` has judged the output, and with `against`, that person otherwise. `flag`
    is one of an output or its item; "any" is any note, "none" no note. `sort` is "systems" to
    have those first that most systems wrote.
    """

    category: str = ""
    phenomenon: str = ""
    system: str = ""
    campaign: str = ""
    verdict: str = ""
    person: str = ""
    against: str = ""
    flag: str = ""
    text: str = ""
    sort: str = ""


@dataclass(frozen=True)
class Progress:
    """How far the work is: warnings at the start, those settled, and this person's own share.

    `seconds_left` is estimated from the pace of this person's last decisions, None without any.
    """

    total: int
    settled: int
    mine: int
    mine_done: int
    skipped: int
    disputed: int
    seconds_left: float | None


@dataclass(frozen=True)
class Saved:
    """What became of a decision.

    `met` is the decision of another person that came in between, if one did: both are kept.
    `settles` is how many answers of systems the decision settles.
    """

    change: int
    output: StoredOutput
    settles: int
    met: Decision | None = None


@dataclass(frozen=True)
class Change:
    """One entry of the history; `source` and `text` are those of its item and output."""

    id: int
    person: str
    time: str
    kind: str
    note: str
    undone: str
    output: int | None = None
    item: str = ""
    undone_by: str = ""
    source: str = ""
    text: str = ""


@dataclass(frozen=True)
class Draft:
    """A rule that somebody thinks of adding, for the item of an output."""

    output: int
    polarity: Polarity
    kind: Kind
    text: str
    scope: Scope = "item"


@dataclass(frozen=True)
class PreviewLine:
    """An output that a draft would change."""

    item: str
    output: int
    text: str
    systems: tuple[str, ...]
    span: tuple[int, int]
    before: Verdict
    after: Verdict
    said: tuple[Decision, ...] = ()


@dataclass(frozen=True)
class Preview:
    """What a draft would do to all outputs in its scope.

    `settles`: warnings that it would pass or fail. `unsettles`: verdicts of rules that it would
    turn around or make warnings. `contradicts`: outputs of which a person has said otherwise.
    Each list is cut to a few dozen lines; the counts are of all, and `items` says how many items
    would get the rule.
    """

    settles: tuple[PreviewLine, ...]
    unsettles: tuple[PreviewLine, ...]
    contradicts: tuple[PreviewLine, ...]
    settles_count: int
    unsettles_count: int
    contradicts_count: int
    searched: int
    items: int


@dataclass(frozen=True)
class FilterCounts:
    """How many outputs each choice of a filter would leave, under the other filters.

    `phenomena` are by category and name.
    """

    categories: Mapping[str, int]
    phenomena: Mapping[tuple[str, str], int]
    systems: Mapping[str, int]
    campaigns: Mapping[str, int]
    verdicts: Mapping[str, int]
    people: Mapping[str, int]
    flags: Mapping[str, int]


@dataclass(frozen=True)
class FilterChoices:
    """What there is to filter by; `phenomena` are the names of each category's."""

    categories: tuple[str, ...]
    phenomena: Mapping[str, tuple[str, ...]]
    systems: tuple[str, ...]
    campaigns: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """What one person was given: `outputs` in so many `items`.

    Another person judges `doubled` of the outputs, too; `done` are those that this person judged.
    """

    person: str
    items: int
    doubled: int
    outputs: int
    done: int


@dataclass(frozen=True)
class PersonsDeal:
    """What a deal means for one person, in outputs to judge.

    `begun` are in items that the person is at and keeps; of the others, so many are `kept`,
    `given` and `taken` away. `doubled` of what the person has then is judged by another one, too.
    """

    person: str
    begun: int
    kept: int
    given: int
    taken: int
    doubled: int

    @property
    def total(self) -> int:
        """What is left to judge for the person after the deal."""
        return self.begun + self.kept + self.given


class Assignment(NamedTuple):
    """An output that a person is to judge; `second` beside another person."""

    output: int
    person: int
    second: bool


class OutputState(NamedTuple):
    """Who has an output to judge, who has judged it, and who is `at` its item."""

    held: tuple[Assignment, ...]
    judges: frozenset[int]
    judged_by_people: bool
    at: frozenset[int]

    def still(self, later: OutputState) -> bool:
        """Whether nobody has got, judged or begun the output since."""
        return self[:3] == later[:3] and later.at <= self.at


@dataclass(frozen=True)
class DealPlan:
    """What a deal would change.

    `judgements` are wanted in all: one for each open output, and a second one for `doubled` of
    the outputs that people judge. `weights` are by the numbers of people; `newcomers` are names by
    numbers below 0, who become people when the plan is applied. `states` are those of the outputs
    that move, when the plan was made.
    """

    people: tuple[PersonsDeal, ...]
    judgements: int
    doubled: int
    weights: Mapping[int, float]
    double: float
    removed: tuple[Assignment, ...]
    added: tuple[Assignment, ...]
    newcomers: Mapping[int, str]
    states: Mapping[int, OutputState]


@dataclass(frozen=True)
class Team:
    """How work was dealt last: weights by the numbers of people, and the share judged twice."""

    weights: Mapping[int, float]
    double: float


@dataclass(frozen=True)
class WorkOffer:
    """Why a person has nothing to judge, and what they could take over.

    `open` outputs wait for judgement, `watched` of them are looked at by others just now, and
    `holders` have them. `items` could be taken over `from_` one of these, if there are any.
    """

    open: int
    watched: int
    holders: tuple[str, ...]
    items: int = 0
    from_: str = ""


@dataclass(frozen=True, eq=False)
class Ratings:
    """What people said of the outputs that several of them judged.

    `codes` has one row per person and one column per output: 1 for pass, 0 for fail, nan
    where this person said nothing. `items` are the numbers of the outputs' items, `phenomena`
    their categories and phenomena.
    """

    people: tuple[str, ...]
    outputs: tuple[int, ...]
    codes: NDArray[np.float64]
    items: tuple[int, ...]
    phenomena: tuple[tuple[str, str], ...]

    def of(self, category: str, phenomenon: str) -> Ratings:
        """Those of one phenomenon alone."""
        here = [at for at, name in enumerate(self.phenomena) if name == (category, phenomenon)]
        return Ratings(
            self.people,
            tuple(self.outputs[at] for at in here),
            self.codes[:, here],
            tuple(self.items[at] for at in here),
            tuple(self.phenomena[at] for at in here),
        )


class SavedSuite(NamedTuple):
    """How many items an import added and changed, and how many outputs it judged anew."""

    added: int
    changed: int
    rechecked: int
