"""People among the systems: translations by hand, which metrics treat differently."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.data import DataError, Dataset

__all__ = ["human_outputs", "is_human", "without_humans"]

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
    systems = {name: each for name, each in dataset.systems.items() if name not in humans}
    if not systems:
        raise DataError(
            f"all systems are human translations ({', '.join(humans)[:200]}): "
            "keep them with --humans in."
        )
    return replace(dataset, systems=systems)


def _whole_references(dataset: Dataset) -> list[tuple[str, ...]]:
    """The reference sets that have a line for every segment."""
    fewest = min(map(len, dataset.references), default=0)
    return [tuple(each[at] for each in dataset.references) for at in range(fewest)]
