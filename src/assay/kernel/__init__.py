"""The C++ kernel: whole corpora in, arrays out, on all cores and without the GIL.

Scoring takes segments, `(hypothesis, references, ...)` tuples. Segments that share the very
same tuple of references have it prepared once. `threads=0` means one per core.
"""

from assay.kernel._native import (
    ReferenceIndex,
    character_ngrams,
    character_pairs,
    count_lines,
    edits,
    masked,
    rouge,
    shifted_edits,
    tokenize,
    type_counts,
    type_scores,
    word_ngrams,
    word_overlaps,
    word_pairs,
)

__all__ = [
    "ReferenceIndex",
    "character_ngrams",
    "character_pairs",
    "count_lines",
    "edits",
    "masked",
    "rouge",
    "shifted_edits",
    "tokenize",
    "type_counts",
    "type_scores",
    "word_ngrams",
    "word_overlaps",
    "word_pairs",
]
