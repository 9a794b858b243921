"""A study in a TOML file: the data, metrics, suite, human scores and limits of a report."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data import DataError, Dataset
from assay.io.datasets import read
from assay.io.files import FilePath, read_text
from assay.io.scores import read_human_scores
from assay.registry import did_you_mean
from assay.reports.people import PeoplesErrors, read_errors
from assay.suites.evaluation import run_suite
from assay.suites.files import read_runs, read_suite

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["ReportStudy", "read_study"]

_TOP = {
    "title": str, "metrics": list, "features": list, "tags": list, "frequencies": str,
    "human": list, "errors": str, "all_pairs": bool, "data": dict, "suite": dict, "limits": dict,
}  # fmt: skip
_DATA = {
    "folder": str, "table": str, "references": list, "systems": list, "source": str,
    "documents": str, "groups": str, "languages": str, "names": list,
}  # fmt: skip
_TEXTS = ("references", "systems")
_SUITE = {"items": str, "outputs": list, "ids": str, "names": list}


@dataclass(frozen=True)
class ReportStudy:
    """What a file asks for: the data, and the parameters of `report`; `paths` were read."""

    data: Dataset
    options: Mapping[str, Any]
    paths: tuple[str, ...]


def read_study(path: FilePath) -> ReportStudy:
    """The study of a TOML file; the files that it names lie beside it."""
    table = _load(Path(path))
    _check(path, table, _TOP)
    if "data" not in table:
        raise DataError(f"{path}: [data] is missing: name a folder, or references and systems.")
    files = _Files(Path(path))
    data = files.data(table["data"])
    if "human" in table:
        scores = read_human_scores(files.all(table["human"]), data)
        data = replace(data, human={each.name: each for each in scores})
    options: dict[str, Any] = {
        key: table[key] for key in ("title", "metrics", "features", "all_pairs") if key in table
    }
    if "limits" in table:
        options["limits"] = table["limits"]
    if "tags" in table:
        options["tags"] = files.all(table["tags"])
    if "frequencies" in table:
        options["frequencies"] = files.one(table["frequencies"])
    if "errors" in table:
        options["errors"] = files.errors(table["errors"], data)
    if "suite" in table:
        options["suite"] = files.suite(table["suite"])
    return ReportStudy(data, options, tuple(files.read))


class _Files:
    """Files beside the study, and which of them were read."""

    def __init__(self, study: Path) -> None:
        self.study = study
        self.read = [str(study)]

    def one(self, name: str) -> str:
        """The path of a file."""
        found = str(self.study.parent / name)
        self.read.append(found)
        return found

    def all(self, names: Sequence[str]) -> list[str]:
        """The paths of files."""
        return [self.one(name) for name in names]

    def data(self, table: dict[str, Any]) -> Dataset:
        """The test set that [data] describes."""
        _check(f"{self.study}: [data]", table, _DATA)
        known: dict[str, Any] = {key: table[key] for key in ("languages", "names") if key in table}
        more: dict[str, Any] = {
            key: self.one(table[key]) for key in ("source", "documents", "groups") if key in table
        }
        if "folder" in table:
            chosen: dict[str, Any] = {
                key: table[key] for key in ("references", "systems") if key in table
            }
            return read(str(self.study.parent / table["folder"]), **chosen, **known, **more)
        if "table" in table:
            return read(self.one(table["table"]), **known, **more)
        texts: dict[str, Any] = {
            key: self.all(table[key]) for key in ("references", "systems") if key in table
        }
        return read(**texts, **known, **more)

    def errors(self, name: str, data: Dataset) -> PeoplesErrors:
        """The errors that people marked."""
        return read_errors(self.one(name), data)

    def suite(self, table: dict[str, Any]) -> RunResult:
        """The verdicts on the suite that [suite] describes."""
        _check(f"{self.study}: [suite]", table, _SUITE)
        if missing := [key for key in ("items", "outputs") if key not in table]:
            raise DataError(f"{self.study}: [suite] needs {' and '.join(missing)}.")
        suite = read_suite(self.one(table["items"]))
        ids = self.one(table["ids"]) if "ids" in table else None
        runs = read_runs(suite, self.all(table["outputs"]), ids=ids, names=table.get("names"))
        return run_suite(suite, runs)


def _load(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DataError(f"{path}: its lists and tables are nested too deep.") from None
    except ValueError as error:
        raise DataError(f"{path}: not TOML: {error}.") from None


def _check(where: object, table: Mapping[str, Any], known: Mapping[str, type]) -> None:
    for key, value in table.items():
        if key not in known:
            names = ", ".join(known)
            raise DataError(
                f"{where}: unknown key {key!r}{did_you_mean(key, known)}. Keys: {names}."
            )
        if not isinstance(value, known[key]):
            kinds = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}
            raise DataError(f"{where}: {key} must be {kinds[known[key]]}, not {value!r}.")
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            raise DataError(f"{where}: {key} must be a list of texts.")
