"""Limits: what a new system must not break, from a TOML file or from Python."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard

from assay.data import DataError
from assay.io.files import FilePath, label, read_text
from assay.registry import did_you_mean

__all__ = ["NEVER", "RULES", "SIGNIFICANTLY", "Limit", "LimitKind", "Rule", "read_limits"]

LimitKind: TypeAlias = Literal["metric", "slice", "fault", "suite"]
Rule: TypeAlias = Literal["min_difference", "worse", "min", "max", "max_rate", "min_accuracy"]

RULES: Mapping[LimitKind, tuple[Rule, ...]] = {
    "metric": ("min_difference", "worse", "min", "max"),
    "slice": ("min_difference", "worse"),
    "fault": ("max", "max_rate", "worse"),
    "suite": ("min_accuracy", "worse"),
}
"""What can be said of each kind of limit."""

SIGNIFICANTLY = "never significantly"
NEVER = "never"

LARGEST = 1e15
"""What a limit can be at most: beyond it, whole numbers are no longer exact."""

_RANGES: Mapping[tuple[LimitKind, Rule], tuple[float, str]] = {
    ("fault", "max_rate"): (1.0, "a share between 0 and 1, such as 0.01"),
    ("suite", "min_accuracy"): (100.0, "a percentage between 0 and 100, such as 90"),
}


class Limit(NamedTuple):
    """One rule about one thing: `slice:ner:PERSON` must never be significantly worse.

    `name` is as it was written, `subject` what stands behind the kind. `where` is the file, for
    errors.
    """

    name: str
    kind: LimitKind
    subject: str
    rule: Rule
    value: float | str
    where: str

    def error(self, message: object) -> DataError:
        """An error about this limit, which names it."""
        return DataError(f"{self.where}, {self.name}: {message}")

    @property
    def bound(self) -> float:
        """The number of a rule that has one."""
        return float(self.value)

    @property
    def wanted(self) -> str:
        """What must hold, in words."""
        match self.rule:
            case "worse":
                return f"{self.value} worse"
            case "min_difference" if self.bound > 0:
                return f"better by at least {self.bound:g}"
            case "min_difference":
                return f"not worse by more than {-self.bound:g}" if self.bound else "not worse"
            case "max" if self.kind == "fault":
                return f"at most {self.bound:g} segment{'s' * (self.bound != 1)}"
            case "max_rate":
                return f"at most {100 * self.bound:g} % of the segments"
            case "min_accuracy":
                return f"at least {self.bound:g} % right"
            case "min":
                return f"at least {self.bound:g}"
            case "max":
                return f"at most {self.bound:g}"


def read_limits(limits: FilePath | Mapping[str, Any]) -> list[Limit]:
    """The limits of a TOML file, or of a mapping like it; what is wrong in them is an error.

    >>> [(limit.kind, limit.rule) for limit in read_limits({"chrf": {"min": 50, "worse": "never"}})]
    [('metric', 'min'), ('metric', 'worse')]
    """
    if isinstance(limits, Mapping):
        where, table = "limits", limits
        if set(limits) == {"limits"} and isinstance(limits["limits"], Mapping):
            table = limits["limits"]
    else:
        where, table = label(limits), _table(limits)
    found = [limit for name, rules in table.items() for limit in _limits(where, name, rules)]
    if not found:
        raise DataError(f'{where}: no limits. Write one as in "chrf" = {{ min_difference = -0.5 }}')
    return found


def _table(path: FilePath) -> Mapping[str, Any]:
    """What stands below [limits]."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except ValueError as error:
        raise DataError(f"{label(path)} is not TOML: {error}.") from None
    except RecursionError:
        raise DataError(f"{label(path)}: its lists and tables are nested too deep.") from None
    for name in content:
        if name != "limits":
            hint = did_you_mean(name, ["limits"])
            raise DataError(f"{label(path)}: no place for {name!r}{hint}. Put it below [limits].")
    table = content.get("limits", {})
    if not isinstance(table, dict):
        raise DataError(f"{label(path)}: limits is a table: write [limits] on a line of its own.")
    return table


def _limits(where: str, name: str, rules: object) -> Iterator[Limit]:
    prefix, _, rest = name.partition(":")
    prefix = prefix.strip().lower()
    kind: LimitKind = "metric"
    if prefix in RULES and prefix != "metric":
        kind, subject = prefix, rest.strip()  # type: ignore[assignment]
        if not subject:
            raise DataError(f"{where}, {name}: name one behind the colon, as in {prefix}:NAME.")
    else:
        subject = name
    if not isinstance(rules, Mapping) or not rules:
        example = _example(RULES[kind][0])
        raise DataError(f"{where}, {name}: write rules in braces, as in {{ {example} }}")
    for rule, value in rules.items():
        if rule not in RULES[kind]:
            known = ", ".join(RULES[kind])
            hint = did_you_mean(str(rule), RULES[kind])
            raise DataError(f"{where}, {name}: no rule {str(rule)!r}{hint}. Rules: {known}.")
        limit = Limit(name, kind, subject, rule, value, where)
        _check_value(limit)
        yield limit


def _check_value(limit: Limit) -> None:
    value = limit.value
    if limit.rule == "worse":
        if value not in (SIGNIFICANTLY, NEVER):
            raise limit.error(f'worse is "{SIGNIFICANTLY}" or "{NEVER}", not {value!r}.')
        return
    if not _is_number(value):
        shown = f"{value!r:.40}"
        raise limit.error(f"{limit.rule} is a number, as in {_example(limit.rule)}; not {shown}.")
    most, wanted = _RANGES.get((limit.kind, limit.rule), (None, ""))
    if most is not None and not 0 <= value <= most:
        raise limit.error(f"{limit.rule} is {wanted}, not {value:g}.")
    if limit.kind == "fault" and limit.rule == "max" and (value < 0 or value != int(value)):
        raise limit.error(f"max is a number of segments; {value:g} is none. A share is max_rate.")


def _is_number(value: object) -> TypeGuard[float]:
    # TOML has nan and inf, and whole numbers that are too large for anything.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -LARGEST <= value <= LARGEST


def _example(rule: Rule) -> str:
    values = {"worse": f'"{SIGNIFICANTLY}"', "min_difference": "-0.5", "max_rate": "0.01"}
    return f"{rule} = {values.get(rule, '0' if rule == 'max' else '90')}"
