"""Where queries, judgements and documents do not fit together, in words."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator

from assay.meta.retrieval.collection import Judgements, Queries
from assay.meta.retrieval.measure import relevant

__all__ = ["mismatches"]

_SHOWN = 3


def mismatches(queries: Queries, judgements: Judgements, documents: Some[str]) -> Iterator[str]:
    """Remarks for the user; nothing here changes a value."""
    unjudged = [query for query in queries if not relevant(judgements.get(query, {}))]
    if unjudged:
        yield (
            f"{_count(len(unjudged), 'query', 'queries')} of {len(queries):,} left out, without a "
            f"relevant document: {_some(unjudged)}."
        )
    if unknown := [query for query in judgements if query not in queries]:
        hint = " If they count the queries, use --number-queries." if unjudged else ""
        yield (
            f"judgements of {_count(len(unknown), 'query', 'queries')} left out that "
            f"the file of queries does not have: {_some(unknown)}.{hint}"
        )
    wanted = dict.fromkeys(d for query in queries for d in relevant(judgements.get(query, {})))
    if missing := [document for document in wanted if document not in documents]:
        yield (
            f"{_count(len(missing), 'relevant document', 'relevant documents')} not in the "
            f"collection, counted as missed: {_some(sorted(missing))}."
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest
