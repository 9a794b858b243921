"""The collection in every translation: the machines', and people's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.data import DataError, Dataset
from assay.io.files import FilePath
from assay.io.lines import system_name
from assay.meta.humans import human_outputs, is_human
from assay.meta.retrieval.collection import Collection, collect

__all__ = ["Translations", "human_files", "translations"]

_REFERENCE = re.compile(r"ref(?:erence)?[-_.]", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Translations:
    """The documents of every system, machines first, and which of them are people's.

    `truth` is the name of the human translation whose ranking counts, if there is one. `machines`
    is the dataset without the human outputs.
    """

    collections: dict[str, Collection]
    humans: tuple[str, ...]
    truth: str | None
    machines: Dataset


def human_files(paths: Sequence[FilePath]) -> list[FilePath]:
    """The files that hold a human translation, by their names: ref.txt, ref.A.txt, human-B.txt.

    >>> human_files(["systems/refine.txt", "ref.txt", "data/ref.en.txt"])
    ['ref.txt', 'data/ref.en.txt']
    """
    names = {path: system_name(path) for path in paths}
    return [each for each in paths if is_human(names[each]) or _REFERENCE.match(names[each])]


def translations(dataset: Dataset) -> Translations:
    """The collection as each system and each reference has it.

    A human output among the systems is no machine. The first reference is the truth.
    """
    if not dataset.documents:
        raise DataError("what are the documents? Give each line's document with --documents FILE.")
    people = human_outputs(dataset)
    machines = {name: each for name, each in dataset.systems.items() if name not in people}
    humans = {name: dataset.systems[name] for name in people}
    truth = None
    for name, lines in _references(dataset).items():
        same = next((known for known, each in humans.items() if each == lines), None)
        label = same or (name if name not in dataset.systems else f"{name} (reference)")
        humans[label] = lines
        truth = truth or label
    return Translations(
        {name: collect(lines, dataset.documents) for name, lines in (machines | humans).items()},
        tuple(humans),
        truth,
        replace(dataset, systems=machines),
    )


def _references(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """The references that have a line for every segment, by name."""
    count = min(map(len, dataset.references), default=0)
    given = dataset.reference_names if len(dataset.reference_names) == count else ()
    names = given or tuple(f"reference {at}" if count > 1 else "reference"
                           for at in range(1, count + 1))  # fmt: skip
    return {name: tuple(each[at] for each in dataset.references) for at, name in enumerate(names)}
