"""The texts of one test set, and figures about them: segments, systems, references, scores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import eq
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Array",
    "DataError",
    "Dataset",
    "Granularity",
    "MissingInput",
    "Scores",
    "Segment",
    "Segments",
    "StoreWarning",
    "are_small_and_whole",
    "check_lines",
    "divide",
    "human_outputs",
    "is_human",
    "language_pair",
    "reference_tuples",
    "shortened",
    "without_humans",
]


Array: TypeAlias = "NDArray[np.float64]"
"""The array type of all figures."""


def divide(a: Any, b: Any) -> Array:
    """The ratio a / b, and 0 where b is 0.

    >>> import numpy as np
    >>> divide(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    import numpy as np

    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    out = np.zeros(a.shape)
    np.divide(a, b, out=out, where=b != 0)
    return out


def are_small_and_whole(rows: Array) -> bool:
    """Whether these are whole numbers so small that their sums are exact as they are."""
    import numpy as np

    if not rows.size:
        return True
    with np.errstate(invalid="ignore"):
        whole = bool((np.rint(rows) == rows).all())
    return whole and float(np.abs(rows).max()) * len(rows) < 2.0**53


class DataError(ValueError):
    """Bad input; the message says what was wrong, where, and what to do.

    However long the cell or name that it quotes, the message is short: its middle is left out.
    """

    def __str__(self) -> str:
        return shortened(super().__str__())


LONGEST = 1000
"""Characters of a message."""


def shortened(message: str) -> str:
    """The message, or its start and its end where it is too long to be read."""
    if len(message) <= LONGEST:
        return message
    half = LONGEST // 2
    return f"{message[:half]} [...] {message[-half:]}"


class MissingInput(DataError):
    """What was asked for needs more data than was given.

    `need` is the parameter that is missing, as in `sources`; `reason` says what needs it. The
    command line names the option instead of the parameter.

    >>> print(MissingInput("sources", "comet compares with the source"))
    comet compares with the source: pass sources=...
    """

    def __init__(self, need: str, reason: str) -> None:
        super().__init__(need, reason)
        self.need = need
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.reason}: pass {self.need}=..."


class StoreWarning(UserWarning):
    """Something is wrong with a store of results; figures are right without it."""


class Segment(NamedTuple):
    """One system's output for one source segment, beside what it is compared with."""

    hypothesis: str
    references: tuple[str, ...]
    source: str = ""


# Twice as fast as calling Segment, and there may be millions.
_make_segment = partial(tuple.__new__, Segment)


class Segments(Sequence[Segment]):
    """The segments of one or several systems, one system after the other, kept as columns.

    It is read like a list of `Segment`, each of which is made when it is asked for; the kernel
    reads `columns` and makes none. `prepared` is what the kernel keeps of the references, or None.

    >>> segments = Segments((("a", "b"), ("c", "d")), (("x",), ("y",)))
    >>> len(segments), segments[2]
    (4, Segment(hypothesis='c', references=('x',), source=''))
    """

    __slots__ = ("hypotheses", "prepared", "references", "sources")

    def __init__(
        self,
        hypotheses: tuple[tuple[str, ...], ...],
        references: tuple[tuple[str, ...], ...],
        sources: tuple[str, ...] = (),
        prepared: object = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.references = references
        self.sources = sources
        self.prepared = prepared

    @property
    def columns(self) -> tuple[object, object, object]:
        """What the kernel reads: lines of each system, references of each segment, their index."""
        return self.hypotheses, self.references, self.prepared

    def __len__(self) -> int:
        return len(self.hypotheses) * len(self.references)

    def __iter__(self) -> Iterator[Segment]:
        sources = self.sources or ("",) * len(self.references)
        for lines in self.hypotheses:
            yield from map(_make_segment, zip(lines, self.references, sources, strict=True))

    @overload
    def __getitem__(self, index: int) -> Segment: ...

    @overload
    def __getitem__(self, index: slice) -> list[Segment]: ...

    def __getitem__(self, index: int | slice) -> Segment | list[Segment]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = int(index) + len(self) * (index < 0)
        if not 0 <= at < len(self):
            raise IndexError(f"segment {index} of {len(self)}")
        system, place = divmod(at, len(self.references))
        source = self.sources[place] if self.sources else ""
        return Segment(self.hypotheses[system][place], self.references[place], source)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | tuple | Segments):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return f"<{len(self)} segments of {len(self.hypotheses)} systems>"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.hypotheses, self.references, self.sources)


@dataclass(frozen=True)
class Dataset:
    """One test set in one language pair; every per-segment sequence has the same length.

    `references` holds one tuple of references per segment. `sources`, `documents` and `groups`
    (the sub-corpus of each segment: its domain, say) are empty where unknown. `named_languages`
    are source and target as the names of the files have them, each empty where they do not tell.
    `human` holds people's scores of the systems, by name.
    """

    systems: Mapping[str, tuple[str, ...]]
    references: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    name: str = ""
    languages: tuple[str, str] | None = None
    reference_names: tuple[str, ...] = field(default=())
    named_languages: tuple[str, str] = field(default=("", ""), compare=False)
    human: Mapping[str, Scores] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for label, lines in self._parallel():
            if len(lines) != len(self.references):
                raise DataError(
                    f"{label} has {len(lines)} segments, but the references have "
                    f"{len(self.references)}. Each needs one line per segment; blank lines count."
                )

    @classmethod
    def from_records(
        cls,
        records: Any,
        *,
        hypothesis: str | Sequence[str] | Mapping[str, str] = "hypothesis",
        reference: str | Sequence[str] | Mapping[str, str] | None = "reference",
        source: str | None = "source",
        system: str | None = "system",
        document: str | None = "document",
        group: str | None = "group",
        segment: str | None = None,
        name: str = "",
        languages: str | tuple[str, str] | None = None,
    ) -> Dataset:
        """The dataset of a table: a pandas or polars frame, a Hugging Face dataset, dictionaries.

        Each of the other arguments names a column. With one column of hypotheses, a row is one
        system's output for one segment, and `system` holds the system's name; without that
        column there is one system, called like the column of hypotheses. With several columns
        of hypotheses (or a mapping of systems to columns), a row is a segment.

        References are a column of texts or of lists of texts, or several columns (or a mapping of
        the references' names to columns); None is for none. The columns `source`, `system`,
        `document` and `group` are used where there are any; one that you name must be there.

        Every system needs the same segments in the same order, or in any order where `segment`
        is a column of their ids. Errors count rows from 1.

        >>> rows = [{"mt": "a cat", "ref": "the cat", "model": "A"},
        ...         {"mt": "the cat", "ref": "the cat", "model": "B"}]
        >>> data = Dataset.from_records(rows, hypothesis="mt", reference="ref", system="model")
        >>> dict(data.systems)
        {'A': ('a cat',), 'B': ('the cat',)}
        """
        from assay.io.records import from_records

        dataset = from_records(
            records,
            hypothesis=hypothesis,
            reference=reference,
            source=source,
            system=system,
            document=document,
            group=group,
            segment=segment,
        )
        pair = language_pair(languages) if isinstance(languages, str) else languages
        return replace(dataset, name=name, languages=pair)

    def __len__(self) -> int:
        return len(self.references)

    def segments(self, system: str) -> list[Segment]:
        """The segments of one system, in order; all systems share the same reference tuples."""
        return list(Segments((self.systems[system],), self.references, self.sources))

    def all_segments(self) -> Segments:
        """The segments of every system, one system after the other."""
        return Segments(tuple(self.systems.values()), self.references, self.sources)

    def _parallel(self) -> Iterator[tuple[str, Sequence[str]]]:
        yield from ((f"system {name!r}", lines) for name, lines in self.systems.items())
        if self.sources:
            yield "the source", self.sources
        if self.documents:
            yield "the list of documents", self.documents
        if self.groups:
            yield "the list of groups", self.groups


def language_pair(text: str) -> tuple[str, str]:
    """Source and target language.

    >>> language_pair("de-en")
    ('de', 'en')
    """
    source, _, target = text.partition("-")
    if not source or not target:
        raise DataError(f"{text!r} is not a language pair; write source and target as in de-en.")
    return source, target


def reference_tuples(
    references: Sequence[Sequence[str | None]] | Mapping[str, Sequence[str | None]], length: int
) -> tuple[tuple[str, ...], ...]:
    """One tuple of references per segment, from K reference sets of `length` lines each.

    `None` stands for a segment without that reference. Shapes that are transposed, or that
    could be read both ways, are errors: name the sets (`{"A": lines, "B": lines}`) to settle it.

    >>> reference_tuples([["a", "b", "c"], ["x", None, "z"]], 3)
    (('a', 'x'), ('b',), ('c', 'z'))
    """
    named = isinstance(references, Mapping)
    sets = list(references.values()) if isinstance(references, Mapping) else list(references)
    _check_shape(sets, length, named=named)
    tuples: tuple[tuple[Any, ...], ...] = tuple(zip(*sets, strict=True))
    if any(type(None) in set(map(type, lines)) for lines in sets):
        tuples = tuple(tuple(line for line in lines if line is not None) for lines in tuples)
    if not all(tuples):
        number = next(at for at, lines in enumerate(tuples, 1) if not lines)
        raise DataError(f"segment {number} has no reference at all; give it at least one.")
    return tuples


def check_lines(label: str, lines: Sequence[object]) -> None:
    """Raise a `DataError` that names the first line that is no text."""
    if set(map(type, lines)) <= {str}:
        return
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise DataError(f"{label}, segment {number}: {line!r} is not a text.")


def _check_shape(sets: Sequence[Sequence[str | None]], length: int, *, named: bool) -> None:
    if not sets:
        raise DataError("no references given: pass a list of reference sets, [reference_lines].")
    if any(isinstance(lines, str) for lines in sets):
        raise DataError(
            "references must be a list of reference sets, each a list of lines: "
            "pass [reference_lines], not reference_lines."
        )
    sizes = {len(lines) for lines in sets}
    if sizes == {length}:
        if len(sets) == length > 1 and not named:
            raise DataError(
                f"{length} reference sets for {length} segments can be read both ways. "
                'Name the sets to settle it: {"A": [first line, ...], "B": [...]}.'
            )
        return
    if len(sets) == length:
        raise DataError(
            f"the references look transposed: {length} lists for {length} segments. Pass one list "
            "per reference set, each with one line per segment: list(zip(*references))."
        )
    bad = next(len(lines) for lines in sets if len(lines) != length)
    raise DataError(
        f"a reference set has {bad} lines, but the system has {length}. "
        "Each reference set needs one line per segment; blank lines count."
    )


Granularity = Literal["system", "segment", "document"]


@dataclass(frozen=True, eq=False)
class Scores:
    """One scorer's values: systems x items, where the items are segments, documents or the whole.

    `values` has shape (systems, items); `nan` is unknown. At system level there is one item, "".
    At segment level the items are "1", "2", ...; at document level the document ids. Scores are
    equal if all of this is, unknown values in the same places. `source` says where they come from;
    `unmatched` are systems that have scores there, but no output here.
    """

    name: str
    granularity: Granularity
    systems: tuple[str, ...]
    items: tuple[str, ...]
    values: NDArray[np.float64]
    source: str = ""
    unmatched: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.items))
        if self.values.shape != shape:
            raise DataError(
                f"scores of {self.name!r}: shape {self.values.shape}, expected {shape}."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        import numpy as np

        same = np.array_equal(self.values, other.values, equal_nan=True)
        return same and self._labels == other._labels

    def __hash__(self) -> int:
        return hash(self._labels)

    @property
    def _labels(self) -> tuple[object, ...]:
        return self.name, self.granularity, self.systems, self.items

    def select(self, systems: Sequence[str]) -> Scores:
        """The scores of these systems, in this order; `nan` for one that has none."""
        import numpy as np

        places = {system: place for place, system in enumerate(self.systems)}
        values = np.full((len(systems), len(self.items)), np.nan)
        for row, system in enumerate(systems):
            if system in places:
                values[row] = self.values[places[system]]
        return replace(self, systems=tuple(systems), values=values)

    def of(self, system: str) -> NDArray[np.float64]:
        """One system's values over the items."""
        values: NDArray[np.float64] = self.values[self.systems.index(system)]
        return values


_HUMAN = re.compile(r"(?:human|ref(?:erence)?)(?:[-_. ]?[a-z0-9])?(?:\.\d+)?", re.IGNORECASE)


def is_human(name: str) -> bool:
    """Whether a system is called as WMT calls translations by hand.

    >>> [is_human(name) for name in ("Human-B.0", "HUMAN", "refA", "ref-B", "refined-mt")]
    [True, True, True, True, False]
    """
    return _HUMAN.fullmatch(name) is not None


def human_outputs(dataset: Dataset) -> list[str]:
    """The systems that are people: by their name, or because they are one of the references."""
    references = _whole_references(dataset)
    return [
        name for name, lines in dataset.systems.items() if is_human(name) or lines in references
    ]


def without_humans(dataset: Dataset) -> Dataset:
    """The dataset with machines only."""
    humans = human_outputs(dataset)
    systems = {name: lines for name, lines in dataset.systems.items() if name not in humans}
    if not systems:
        raise DataError(
            f"all systems are human translations ({', '.join(humans)[:200]}): "
            'keep them with humans="in".'
        )
    human = {name: scores.select(list(systems)) for name, scores in dataset.human.items()}
    return replace(dataset, systems=systems, human=human)


def _whole_references(dataset: Dataset) -> list[tuple[str, ...]]:
    """The reference sets that have a line for every segment."""
    fewest = min(map(len, dataset.references), default=0)
    return [tuple(lines[place] for lines in dataset.references) for place in range(fewest)]
