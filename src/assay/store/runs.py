"""Runs: what a command found about systems at some time, as JSON Lines that people can read.

Each line is one observation and says all about its run, so that lines of many runs make one table.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from assay.results import Record, known
from assay.store.packing import DamagedError
from assay.version import __version__

__all__ = ["Observation", "ObservationKind", "RunRecord", "new_run", "read_run", "run_lines"]

ObservationKind: TypeAlias = Literal["metric", "slice", "fault", "phenomenon"]


@dataclass(frozen=True)
class Observation:
    """A figure about one system, with its interval from `low` to `high` and the `n` it is of.

    `name` is what it is about: a metric's title, a slice, a kind of fault, a phenomenon. `metric`
    is what scored it, as it was asked for; `resolved` is that metric with all its settings, as far
    as there is one. `text` is the digest of the system's outputs, `rows` the key of the rows that
    the store has. `role` is the system's in a check: baseline or candidate.
    """

    system: str
    kind: ObservationKind
    name: str
    metric: str
    signature: str
    value: float
    low: float
    high: float
    n: int
    interval: str = ""
    level: float = 0.95
    unit: str = ""
    higher: bool | None = True
    finer: bool = False
    resolved: str = ""
    text: str = ""
    rows: str = ""
    role: str = ""


@dataclass(frozen=True)
class RunRecord:
    """One run: when, by which command, on which test set, and all that was observed.

    `name` is the user's, and may be empty. `test_set_sha256` is the digest of references and
    source, by which runs can be compared. `passed` is the answer of a check, None for others.
    """

    run: str
    time: str
    name: str
    command: str
    version: str
    test_set: str
    test_set_sha256: str
    languages: str
    segments: int
    passed: bool | None
    observations: tuple[Observation, ...]

    @property
    def label(self) -> str:
        """Its name, or the time in UTC."""
        return self.name or self.time[:19].replace("T", " ")

    @property
    def systems(self) -> list[str]:
        """The systems in the order of the run."""
        return list(dict.fromkeys(each.system for each in self.observations))


def new_run(
    command: str,
    observations: Iterable[Observation],
    *,
    name: str,
    test_set: str,
    test_set_sha256: str,
    languages: tuple[str, str] | None,
    segments: int,
    passed: bool | None,
) -> RunRecord:
    """A run of this moment, with an id that sorts by time and that no other run has."""
    now = datetime.now(UTC)
    return RunRecord(
        run=f"{now:%Y%m%dT%H%M%S.%f}Z-{secrets.token_hex(4)}",
        time=now.isoformat(timespec="microseconds"),
        name=name,
        command=command,
        version=__version__,
        test_set=test_set,
        test_set_sha256=test_set_sha256,
        languages="-".join(languages or ()),
        segments=segments,
        passed=passed,
        observations=tuple(observations),
    )


_OF_RUN = [field for field in fields(RunRecord) if field.name != "observations"]
_OF_OBSERVATION = fields(Observation)
_RENAMED = {"name": "subject"}
"""A line has one name of the run and one of what was observed."""


def run_lines(run: RunRecord) -> str:
    """The run as JSON Lines; numbers in full, null for the unknown."""
    head = {field.name: getattr(run, field.name) for field in _OF_RUN}
    lines = (head | _line(observation) for observation in run.observations)
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _line(observation: Observation) -> Record:
    values = {name: _finite(value) for name, value in asdict(observation).items()}
    return {_RENAMED.get(name, name): value for name, value in values.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and math.isinf(value) else known(value)


def read_run(text: str) -> RunRecord:
    """The run of `run_lines`; a `DamagedError` where it is none."""
    try:
        # U+2028 and the like stay inside their line.
        records = [json.loads(line) for line in text.split("\n") if line]
        if not records:
            raise DamagedError("it is empty")
        observations = tuple(
            Observation(**_values(_OF_OBSERVATION, record, _RENAMED)) for record in records
        )
        if any(each.kind not in get_args(ObservationKind) for each in observations):
            raise DamagedError("a kind of observation in it is not known")
        return RunRecord(**_values(_OF_RUN, records[0], {}), observations=observations)
    except DamagedError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from None


def _values(wanted: Sequence[Any], record: Record, renamed: dict[str, str]) -> dict[str, Any]:
    """The values of a line, each of the kind that it should be of."""
    found: dict[str, Any] = {}
    for field in wanted:
        key = renamed.get(field.name, field.name)
        value, kind = record[key], field.type
        if kind == "float":
            value = math.nan if value is None else float(value)
        elif kind == "int":
            value = int(value)
        elif kind in ("bool", "bool | None"):
            value = value if value is None and kind != "bool" else bool(value)
        elif not isinstance(value, str):
            raise TypeError(f"{key} is no text")
        found[field.name] = value
    return found
