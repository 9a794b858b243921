"""A small German-English test set of our own making, for demonstrations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from assay.data import Dataset
    from assay.suites.model import Run, Suite

__all__ = [
    "CAMPAIGNS",
    "DemoSet",
    "DemoSuite",
    "demo_suite_files",
    "read_demo",
    "read_demo_suite",
    "tagged_demo",
]


def read_demo() -> Dataset:
    """The 120 segments with two references and three invented systems.

    >>> data = read_demo()
    >>> len(data), list(data.systems)
    (120, ['atlas', 'birch', 'cedar'])
    """
    from assay.io import read_folder

    with as_file(files("assay") / "demo") as folder:
        return read_folder(folder, "de-en", references=["all"])


class DemoSet(NamedTuple):
    """The test set with its first reference, and files with tags of its texts, for MuLER."""

    data: Dataset
    tags: list[Path]


@contextmanager
def tagged_demo() -> Iterator[DemoSet]:
    """The test set as the README has it, with tags so that no tagger is needed.

    >>> with tagged_demo() as (data, tags):
    ...     len(data), len(tags)
    (120, 4)
    """
    from assay.io import read_folder

    with as_file(files("assay") / "demo") as folder:
        data = read_folder(folder, "de-en", references=["refA"])
        names = ("ref.A", *data.systems)
        yield DemoSet(data, [folder / "tags" / f"{name}.conllu" for name in names])


CAMPAIGNS = {"spring": "2025-03-03", "autumn": "2025-09-01"}
"""When the invented systems translated the suite; cedar came only in autumn."""


class DemoSuite(NamedTuple):
    """A suite, and what systems made of it in every campaign, the earlier one first."""

    suite: Suite
    runs: list[Run]


def read_demo_suite() -> DemoSuite:
    """The 48 items over 8 phenomena, and the five runs of three invented systems.

    >>> suite, runs = read_demo_suite()
    >>> len(suite), [(run.system, run.campaign) for run in runs][:2]
    (48, [('atlas', 'spring'), ('birch', 'spring')])
    """
    from assay.suites.files import read_suite

    with as_file(files("assay") / "demo" / "suite") as folder:
        suite = read_suite(folder / "items.json")
        runs = [run for name in CAMPAIGNS for run in _read_campaign(suite, folder, name)]
    return DemoSuite(suite, runs)


def demo_suite_files() -> Mapping[str, bytes]:
    """The files of the suite by their names, to be put somewhere for a person to go on with."""
    with as_file(files("assay") / "demo" / "suite") as folder:
        paths = [folder / "items.json", *sorted(folder.rglob("*.txt"))]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _read_campaign(suite: Suite, folder: Path, name: str) -> list[Run]:
    from assay.suites.files import read_runs

    paths = sorted((folder / name).glob("*.txt"))
    ids = folder / "item_ids.txt"
    return read_runs(suite, paths, ids=ids, campaign=name, date=CAMPAIGNS[name])
