from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Segments = Sequence[tuple[Any, ...]]

class TooLong(ValueError):
    """Two texts that would take hours to compare; `args` are segment, words of each."""

class ReferenceIndex:
    """What one metric makes of a tuple of references, kept for the next system.

    `columns` of segments with the very same tuple may have it as their third part.
    """

    def __init__(self, references: tuple[tuple[str, ...], ...]) -> None: ...

def tokenize(lines: Sequence[str], tokenizer: str, classes: bytes = b"") -> list[list[str]]:
    """The words of every line; `classes` is one byte per code point, for `intl`."""

def count_lines(lines: tuple[str, ...]) -> tuple[int, int]:
    """How many lines are empty or white space, and how many end in a blank and a full stop."""

def word_overlaps(
    lines: tuple[str, ...], places: tuple[int, ...], sources: tuple[str, ...], table: bytes
) -> NDArray[np.int64]:
    """Distinct words of each line, those in the source at its place, and those in any source.

    `table` has a byte per code point: 1 for a letter, 2 for one that is a word of its own. Counts
    are below 0 where a character is beyond the table.
    """

def masked(words: tuple[str, ...], keep: NDArray[np.bool_], mask: str) -> list[str]:
    """One text per row: the words, with the mask for those that are not kept."""

def word_ngrams(
    segments: Segments, tokenizer: str, classes: bytes, order: int, threads: int = 0
) -> NDArray[np.float64]:
    """Rows of hypothesis length, closest reference length, `order` matches, `order` totals."""

def character_ngrams(
    segments: Segments,
    char_order: int,
    word_order: int,
    beta_squared: float,
    whitespace: bool,
    eps_smoothing: bool,
    legacy: bool,
    threads: int = 0,
) -> NDArray[np.float64]:
    """Rows of three per order: n-grams of the hypothesis, of the best reference, shared."""

def word_pairs(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    tokenizer: str,
    classes: bytes,
    order: int,
    threads: int = 0,
) -> NDArray[np.float64]:
    """Rows as `word_ngrams` has them, of all hypotheses of a segment with all references."""

def character_pairs(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    char_order: int,
    word_order: int,
    whitespace: bool,
    legacy: bool,
    threads: int = 0,
) -> NDArray[np.float64]:
    """Rows as `character_ngrams` has them, of all hypotheses of a segment with all references."""

def shifted_edits(
    segments: Segments, tokenizer: str, classes: bytes, threads: int = 0
) -> NDArray[np.float64]:
    """Rows of edits and shifts to the nearest reference, and the mean reference length."""

def edits(
    segments: Segments, tokenizer: str, classes: bytes, threads: int = 0
) -> NDArray[np.float64]:
    """Rows of edits to the nearest reference, and the mean reference length."""

def character_edits(segments: Segments, whitespace: bool, threads: int = 0) -> NDArray[np.float64]:
    """The same of characters: with white space, or without."""

def rouge(
    segments: Segments, order: int, summary: bool, stem: bool, threads: int = 0
) -> NDArray[np.float64]:
    """Rows of precision, recall and F; order 0 is ROUGE-L. Lines come lowercased."""

def type_counts(
    segments: Segments,
    tokenizer: str,
    classes: bytes,
    characters: bool,
    min_order: int,
    max_order: int,
    threads: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], list[str]]:
    """Row starts, columns and values of a sparse array, and the types' names in order.

    Three columns per type, all stored: predicted, wanted, matched.
    """

def type_scores(
    weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    width: int,
    beta_squared: float,
    by_frequency: bool,
    k: float,
    threads: int = 0,
) -> NDArray[np.float64]:
    """The mean F over types for each row of weights, from sparse rows of `width` columns."""

def type_swaps(
    keep: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.int32],
    width: int,
    beta_squared: float,
    by_frequency: bool,
    k: float,
    threads: int = 0,
) -> NDArray[np.float64]:
    """The differences of the mean F of pairs of systems, (pairs, trials).

    The rows are those of all systems, one after the other. In each trial, a row of `keep`, two
    systems change places on the segments that are not kept.
    """

def swapped_concordance(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    human: NDArray[np.int32],
    unit: NDArray[np.int32],
    swaps: NDArray[np.bool_],
    levels: int,
    threads: int = 0,
) -> NDArray[np.int64]:
    """Pairs of scores counted after two metrics' scores changed places, (trials, 2, 5).

    Scores are ranks below `levels`; those of one unit change places together, in the trials where
    its column of `swaps` is True. Counts are of pairs that agree with people, disagree, are tied by
    people, by the metric and by both.
    """

def pair_windows(
    values: NDArray[np.float64],
    human: NDArray[np.int32],
    starts: NDArray[np.int64],
    edges: NDArray[np.float64],
    threads: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs by the size of their difference: counts and the least and largest size, (windows, 2).

    Counts are of pairs that people tie, and that they order as the values do. The values are
    sorted within groups, which begin at `starts`. A window holds the sizes above its lower edge
    and up to its upper one; size 0 has a window of its own.
    """

def pairs_within(
    values: NDArray[np.float64],
    human: NDArray[np.int32],
    starts: NDArray[np.int64],
    edges: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The sizes of the pairs in one window, and 1 for people's ties, -1 for the same order."""

def swapped_windows(
    values: NDArray[np.float64],
    human: NDArray[np.int32],
    starts: NDArray[np.int64],
    edges: NDArray[np.float64],
    rows: NDArray[np.int32],
    sides: NDArray[np.uint64],
    trials: int,
    threads: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The pairs of `pair_windows` whose scores are both on the first side, (windows, 2, trials).

    `rows` says which row of `sides` a score belongs to, and that row, bit by bit, in which trials
    it is on the first side; rows 2 k and 2 k + 1 are opposites. The second array, (windows, 2,
    rows), has how often each row takes part in a pair, whichever the side.
    """

def usual_threads() -> int:
    """The threads of calls that ask for none: `$ASSAY_THREADS`, or one per core."""
