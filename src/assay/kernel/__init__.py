"""The C++ kernel: whole corpora in, arrays out, on all cores and without the GIL.

Scoring takes segments, `(hypothesis, references, ...)` tuples. Segments that share the very
same tuple of references have it prepared once. `threads=0` means as many as the
environment variable `ASSAY_THREADS` says, or one per core.
"""

from assay.kernel._native import (
    ReferenceIndex,
    TooLong,
    character_edits,
    character_ngrams,
    character_pairs,
    count_lines,
    edits,
    masked,
    pair_windows,
    pairs_within,
    rouge,
    shifted_edits,
    swapped_concordance,
    swapped_windows,
    tokenize,
    type_counts,
    type_scores,
    type_swaps,
    usual_threads,
    word_ngrams,
    word_overlaps,
    word_pairs,
)

__all__ = [
    "ReferenceIndex",
    "TooLong",
    "character_edits",
    "character_ngrams",
    "character_pairs",
    "count_lines",
    "edits",
    "masked",
    "pair_windows",
    "pairs_within",
    "rouge",
    "shifted_edits",
    "swapped_concordance",
    "swapped_windows",
    "tokenize",
    "type_counts",
    "type_scores",
    "type_swaps",
    "usual_threads",
    "word_ngrams",
    "word_overlaps",
    "word_pairs",
]
