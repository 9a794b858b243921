"""`check`: does a candidate keep the limits, compared with a baseline? A gate for releases.

Every limit becomes one or more outcomes: what was wanted, what was seen with its interval and p,
and how small a regression would have been noticed at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from assay.comparison.words import Vocabulary
from assay.data import DataError, Dataset, MissingInput
from assay.features.annotation import Annotator
from assay.io.files import FilePath
from assay.metrics.base import Metric, Statistics, select_metrics, system_statistics
from assay.metrics.faults import FAULTS
from assay.progress import Track, untracked
from assay.registry import did_you_mean
from assay.reports.compare import AnyProbe, Tagging, slice_probes, suite_probes
from assay.reports.limits import RULES, SIGNIFICANTLY, Limit, read_limits
from assay.reports.outcomes import ALPHA, CheckResult, Outcome
from assay.reports.people import PeoplesErrors
from assay.reports.probes import SumProbe, Whole
from assay.reports.recorded import observe_probes, observe_statistics
from assay.statistics.intervals import standard_error
from assay.statistics.power import (
    noticeable_count_rate,
    noticeable_loss,
    noticeable_new_rate,
    noticeable_shift,
)
from assay.statistics.signflips import sign_flip_p
from assay.statistics.significance import holm
from assay.store.results import ResultStore, use_store
from assay.store.runs import Observation

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["CheckResult", "check", "is_stored"]

TAGGED = ("upos", "ner", "morph", "dep", "tag")
"""Features whose slices need a tagger: it is asked for those that limits name."""

BASELINE, CANDIDATE = 0, 1
"""The places of the two systems in the data that are looked at."""


def check(
    data: Dataset,
    limits: FilePath | Mapping[str, Any],
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    features: Sequence[str] | None = None,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    labels: Mapping[str, Sequence[str]] | None = None,
    frequencies: FilePath | Mapping[str, int] | None = None,
    suite: RunResult | None = None,
    errors: PeoplesErrors | None = None,
    level: float = 0.95,
    store: FilePath | None = None,
    run_name: str = "",
    track: Track = untracked,
) -> CheckResult:
    """Check whether a candidate keeps the limits, compared with a baseline.

    - `limits`: a TOML file with a table `[limits]`, or a mapping like it: by metric, `slice:NAME`
      (any slice of `compare`), `fault:KIND` or `suite:NAME`, what must hold. See docs/gate.md.
    - `baseline`, `candidate`: two systems by name; by default the first and the second of two.
    - `level`: of the intervals, and so of `min_difference`.
    - `store`: a folder that keeps results, and `run_name` the name of the run in it: see `score`. A
      baseline of `"last"`, `"last/SYSTEM"`, `"run:NAME"` or `"run:NAME/SYSTEM"` is then that of an
      earlier run on this test set; the last is the newest that is no failed check.
    - All else is as in `compare`. Slices by tags need no `features`: the limits say which.

    `min_difference` is in units of the metric, a loss being negative whatever the metric's
    direction; it holds unless the interval lies wholly below. `worse = "never significantly"`
    is a sign-flip test at 0.05, its p adjusted over all such limits by Holm's method.

    >>> from assay.demo import read_demo
    >>> limits = {"chrf": {"min_difference": -5}, "fault:numbers": {"max_rate": 0.01}}
    >>> result = check(read_demo(), limits, baseline="atlas", candidate="birch")
    >>> result.passed, [(outcome.limit.name, outcome.verdict) for outcome in result.outcomes]
    (False, [('chrf', 'ok'), ('fault:numbers', 'BROKEN')])
    """
    wanted = read_limits(limits)
    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")
    with use_store(store) as kept:
        if kept and is_stored(baseline) and baseline not in data.systems:
            data, baseline = _with_stored(kept, data, baseline, candidate)
            roles = ("", "candidate")
        else:
            roles = ("baseline", "candidate")
        pair = _pair(data, baseline, candidate)
        notes: list[str] = []
        metrics = _LimitMetrics(pair, wanted, notes)
        slices: Mapping[str, AnyProbe] = {}
        if any(limit.kind == "slice" for limit in wanted):
            probes = slice_probes(
                pair,
                metrics.leading,
                Vocabulary.of(pair),
                features=_features(wanted, features, tags),
                tagging=Tagging(annotator, pipeline, tags, cache),
                labels=labels or {},
                frequencies=frequencies,
                errors=errors,
                notes=notes,
                track=track,
            )
            slices = _by_name(probes)
        seen = [_see(limit, pair, metrics, slices, suite) for limit in wanted]
        outcomes = _outcomes(wanted, seen, level)
        before, after = pair.systems
        result = CheckResult(before, after, tuple(outcomes), level, tuple(dict.fromkeys(notes)))
        if kept:
            observed = _observations(kept, wanted, pair, metrics, slices, suite, level, roles)
            chosen = [each for each in observed if each.role]
            kept.add_dataset_run("check", pair, chosen, name=run_name, passed=result.passed)
    return result


def is_stored(baseline: str | None) -> TypeGuard[str]:
    """Whether a baseline is one of an earlier run, by how it is written."""
    return baseline is not None and (baseline == "last" or baseline.startswith(("last/", "run:")))


def _with_stored(
    store: ResultStore, data: Dataset, baseline: str, candidate: str | None
) -> tuple[Dataset, str]:
    """The data with the system of an earlier run, which has the name of its run behind its own."""
    if candidate is None and len(data.systems) != 1:
        raise DataError(f"name a candidate: there are {', '.join(data.systems) or 'no systems'}.")
    name = candidate if candidate is not None else next(iter(data.systems))
    if name not in data.systems:
        hint = did_you_mean(name, data.systems)
        raise DataError(f"candidate: no system {name!r}{hint}. Systems: {', '.join(data.systems)}.")
    found = store.stored_system(data, baseline, data.systems[name])
    systems = {found.label: found.lines, name: data.systems[name]}
    return replace(data, systems=systems), found.label


def _observations(
    store: ResultStore,
    limits: Sequence[Limit],
    data: Dataset,
    metrics: _LimitMetrics,
    slices: Mapping[str, AnyProbe],
    suite: RunResult | None,
    level: float,
    roles: Sequence[str],
) -> Iterator[Observation]:
    """What a store keeps of the check: all that limits are about, for baseline and candidate."""
    statistics = list(metrics.found.values())
    signature = ""
    for seen in observe_statistics(store, data, statistics, level=level, roles=roles):
        signature = signature or seen.signature
        yield seen
    subjects = {kind: [each.subject for each in limits if each.kind == kind] for kind in RULES}
    faults = [f"fault:{kind}" for kind in subjects["fault"] if f"fault:{kind}" not in metrics.found]
    probes = [
        *(slices[name] for name in dict.fromkeys(subjects["slice"])),
        *(metrics.fault_probe(name) for name in dict.fromkeys(faults)),
        *(
            _found(limit, suite_probes(data, suite))
            for limit in {
                limit.subject: limit for limit in limits if limit.kind == "suite"
            }.values()
        ),
    ]
    yield from observe_probes(data.systems, probes, level=level, signature=signature, roles=roles)


def _pair(data: Dataset, baseline: str | None, candidate: str | None) -> Dataset:
    """The data with the baseline and the candidate alone, in this order."""
    systems = list(data.systems)
    for role, name in (("baseline", baseline), ("candidate", candidate)):
        if name is not None and name not in systems:
            hint = did_you_mean(name, systems)
            raise DataError(f"{role}: no system {name!r}{hint}. Systems: {', '.join(systems)}.")
    if not len(data):
        raise DataError("there is nothing to check: the test set has no segments.")
    if len(systems) < 2:
        raise MissingInput("systems", "a check needs a baseline and a candidate")
    if (baseline is None or candidate is None) and len(systems) > 2:
        known = ", ".join(systems)
        raise DataError(f"name a baseline and a candidate: there are {len(systems)}, {known}.")
    first = baseline or next(name for name in systems if name != candidate)
    second = candidate or next(name for name in systems if name != first)
    if first == second:
        raise DataError(f"baseline and candidate are the same system, {first}.")
    return replace(data, systems={name: data.systems[name] for name in (first, second)})


def _features(
    limits: Iterable[Limit], features: Sequence[str] | None, tags: Sequence[FilePath]
) -> Sequence[str]:
    """The features to tag: those asked for, and those that limits name."""
    prefixes = [limit.subject.partition(":")[0] for limit in limits if limit.kind == "slice"]
    if features is None and tags:
        return ("tags",)
    named = [prefix for prefix in dict.fromkeys(prefixes) if prefix in TAGGED]
    return (*(features or ()), *(name for name in named if features is None))


class _Seen(NamedTuple):
    """What there is to see about a limit.

    `error` is the standard error of what is limited, `loss` how much worse the candidate is, and
    `count` how many segments or items took part. `hits` are those of baseline and candidate that
    count against them, where segments are counted; `background` those that only one of them has,
    the smaller number.
    """

    metric: str
    unit: str
    digits: int
    higher: bool
    bounds: tuple[float, float]
    value: float
    other: float
    error: float
    p: float
    n: int
    hits: tuple[int, int] | None = None
    background: int = 0
    noun: str = "segments"

    @property
    def loss(self) -> float:
        """How much worse the candidate is; below 0 where it is better."""
        return self.other - self.value if self.higher else self.value - self.other

    @property
    def room(self) -> float:
        """The largest loss there could be."""
        low, high = self.bounds
        return self.other - low if self.higher else high - self.other

    def reach(self, level: float) -> float:
        """Half the length of the interval, by Student's t; `nan` where there is none."""
        from scipy.special import stdtrit

        if self.n < 2:
            return math.nan
        return self.error * float(stdtrit(self.n - 1, (1 + level) / 2))

    def shown(self, value: float, sign: str = "") -> str:
        """A figure with its unit."""
        if math.isnan(value):
            return "unknown"
        return f"{value:{sign}z.{self.digits}f}{self.unit}".replace("-", "−")


class _LimitMetrics:
    """The statistics of the metrics that limits name; the first one scores slices of segments."""

    def __init__(self, data: Dataset, limits: Sequence[Limit], notes: list[str]) -> None:
        self.data, self.notes = data, notes
        self.found: dict[str, list[Statistics]] = {}
        for limit in limits:
            if limit.kind == "metric" and limit.subject not in self.found:
                self.found[limit.subject] = self._statistics(limit)

    def _statistics(self, limit: Limit) -> list[Statistics]:
        try:
            return self._of(limit.subject)
        except MissingInput:
            raise
        except DataError as error:
            kinds = "A metric, or slice:NAME, fault:KIND, suite:NAME."
            raise limit.error(f"{str(error).rstrip('.')}. {kinds}") from None

    def _of(self, name: str) -> list[Statistics]:
        selection = select_metrics([name], self.data)
        self.notes += selection.notes
        if len(selection.metrics) != 1:
            raise DataError(f"{name} stands for several metrics: name one, as in fault:numbers.")
        return system_statistics(self.data, selection.metrics[0])

    @property
    def leading(self) -> list[Statistics]:
        """The first metric of the limits, or chrF."""
        if not self.found:
            self.found["chrf"] = self._of("chrf")
        return next(iter(self.found.values()))

    def seen(self, limit: Limit) -> _Seen:
        """A metric on all segments."""
        other, one = self.found[limit.subject]
        absolute = limit.rule in ("min", "max")
        moved = one.without_each() - (0.0 if absolute else other.without_each())
        metric = one.metric
        return _Seen(
            metric.title, "", _digits(metric), metric.higher_is_better, metric.bounds,
            one.corpus(), other.corpus(), standard_error(moved),
            sign_flip_p(one.contributions(other)), len(one),
        )  # fmt: skip

    def fault(self, limit: Limit) -> _Seen:
        """Segments with a fault of some kind."""
        if limit.subject not in (*FAULTS, "any"):
            hint = did_you_mean(limit.subject, FAULTS)
            raise limit.error(f"no such fault{hint}. Faults: {', '.join(FAULTS)}, any.")
        other, one = self._of(f"fault:{limit.subject}")
        if limit.rule == "worse":
            # A fault that can be told of one of the two only says nothing about the difference.
            both = (np.asarray(one.rows)[:, 1] > 0) & (np.asarray(other.rows)[:, 1] > 0)
            one, other = one[both], other[both]
        value, before = one.corpus(), other.corpus()
        if math.isnan(value):
            needs = FAULTS[limit.subject].needs if limit.subject in FAULTS else "source"
            raise MissingInput("sources", f"{limit.name} compares with the {needs}")
        hits = np.asarray(one.rows)[:, 0], np.asarray(other.rows)[:, 0]
        only = int((hits[0] > hits[1]).sum()), int((hits[0] < hits[1]).sum())
        return _Seen(
            "segments", " %", 1, False, (0.0, 100.0), value, before, math.nan,
            sign_flip_p(one.contributions(other)), int(np.asarray(one.rows)[:, 1].sum()),
            (int(hits[1].sum()), int(hits[0].sum())), min(only),
        )  # fmt: skip

    def fault_probe(self, name: str) -> SumProbe:
        """The segments with a fault, by system."""
        statistics = self._of(name)
        metric = statistics[0].metric
        rows = np.stack([np.asarray(each.rows) for each in statistics])
        kind = name.partition(":")[2]
        return SumProbe(
            "fault", kind, "segments", "%", False, False, rows, metric.aggregate, judged=True
        )


def _digits(metric: Metric) -> int:
    return 4 if metric.is_small else 2


def _see(
    limit: Limit,
    data: Dataset,
    metrics: _LimitMetrics,
    slices: Mapping[str, AnyProbe],
    suite: RunResult | None,
) -> _Seen:
    match limit.kind:
        case "metric":
            return metrics.seen(limit)
        case "fault":
            return metrics.fault(limit)
        case "slice":
            return _slice(limit, data, slices)
        case "suite":
            return _phenomenon(limit, data, suite)


def _by_name(probes: Iterable[AnyProbe]) -> dict[str, AnyProbe]:
    """The slices by name; by kind and name, too, and as people read them in a comparison."""
    found: dict[str, AnyProbe] = {}
    for probe in probes:
        found.setdefault(probe.name, probe)
        found.setdefault(f"{probe.kind}:{probe.name}", probe)
        if probe.kind in _NOUNS:
            found.setdefault(f"{_NOUNS[probe.kind]} {probe.name}", probe)
    return found


_NOUNS = {"text": "segments", "difficulty": "segments:", "frequency": "words"}


def _slice(limit: Limit, data: Dataset, slices: Mapping[str, AnyProbe]) -> _Seen:
    if limit.subject not in slices:
        names = list(dict.fromkeys(probe.name for probe in slices.values()))
        hint = did_you_mean(limit.subject, slices)
        raise limit.error(f"no such slice of this test set{hint}. Slices: {', '.join(names)}.")
    probe = slices[limit.subject]
    count = len(data)
    test = probe.test(CANDIDATE, BASELINE, Whole(np.zeros(count), np.ones(count)))
    unit = f" {probe.unit}" if probe.unit else ""
    bounds = 0.0, 100.0 if probe.higher or probe.unit == "%" else math.inf
    return _Seen(
        probe.metric, unit, 4 if probe.finer else 2, probe.higher is not False, bounds,
        test.value, test.other, test.error, test.p, len(test.segments),
    )  # fmt: skip


def _phenomenon(limit: Limit, data: Dataset, suite: RunResult | None) -> _Seen:
    """A category or phenomenon of the suite; how good the candidate is, on all its own items."""
    if suite is None:
        raise MissingInput("suite", f"{limit.name} is about a test suite")
    probe = _found(limit, suite_probes(data, suite))
    test = probe.test(CANDIDATE, BASELINE, _NO_SEGMENTS)
    value, rows = test.value, probe.rows[CANDIDATE]
    if limit.rule == "min_accuracy":
        (name,) = list(data.systems)[CANDIDATE:]
        alone = replace(data, systems={name: data.systems[name]})
        rows = _found(limit, suite_probes(alone, suite)).rows[0]
        value = float(probe.aggregate(rows.sum(axis=0)[None, :])[0])
    right, decided = (int(total) for total in rows.sum(axis=0))
    if not decided:
        raise limit.error("no item has a verdict; people must resolve warnings first.")
    before = int((probe.rows[BASELINE, :, 1] - probe.rows[BASELINE, :, 0]).sum())
    only = int((test.contributions > 0).sum()), int((test.contributions < 0).sum())
    return _Seen(
        "accuracy", " %", 1, True, (0.0, 100.0), value, test.other, math.nan, test.p, decided,
        (before, decided - right), min(only), "items",
    )  # fmt: skip


_NO_SEGMENTS = Whole(np.zeros(0), np.zeros(0))


def _found(limit: Limit, probes: Iterable[SumProbe]) -> SumProbe:
    """The category or the phenomenon of that name, which need not name its category."""
    names = {probe.name: probe for probe in probes}
    if limit.subject in names:
        return names[limit.subject]
    short = [name for name in names if name.partition(": ")[2] == limit.subject]
    if len(short) == 1:
        return names[short[0]]
    known = ", ".join(short or names)
    if short:
        raise limit.error(f"several categories have it: name one of {known}.")
    hint = did_you_mean(limit.subject, names)
    raise limit.error(f"no such category or phenomenon of the suite{hint}. There are: {known}.")


def _outcomes(limits: Sequence[Limit], seen: Sequence[_Seen], level: float) -> list[Outcome]:
    """Whether each limit holds; p adjusted over all that ask for significance."""
    tested = [limit.value == SIGNIFICANTLY for limit in limits]
    p = np.array([each.p if asked else math.nan for asked, each in zip(tested, seen, strict=True)])
    adjusted, alpha = holm(p), ALPHA / max(1, sum(tested))
    return [
        _outcome(limit, each, level, float(corrected), alpha)
        for limit, each, corrected in zip(limits, seen, adjusted, strict=True)
    ]


def _outcome(limit: Limit, seen: _Seen, level: float, adjusted: float, alpha: float) -> Outcome:
    if math.isnan(seen.value):
        raise limit.error("the candidate's value is unknown here: no segment says anything of it.")
    if limit.rule in ("min_difference", "worse") and math.isnan(seen.other):
        raise limit.error("the baseline's value is unknown here: no segment says anything of it.")
    about, reach = seen.value, seen.reach(level)
    if limit.rule in ("min_difference", "worse"):
        about = seen.value - seen.other
    found = Outcome(
        limit, True, seen.metric, seen.n, seen.value, seen.other, about - reach, about + reach,
        seen.p, adjusted, math.nan, "", "",
    )  # fmt: skip
    noticeable = _noticeable(limit, seen, reach, alpha)
    return replace(
        found,
        passed=_holds(limit, seen, reach, adjusted),
        noticeable=noticeable,
        seen=_told(limit, seen, found),
        notices=_notices(limit, seen, noticeable),
    )


def _holds(limit: Limit, seen: _Seen, reach: float, adjusted: float) -> bool:
    match limit.rule:
        case "worse" if limit.value == SIGNIFICANTLY:
            return not (seen.loss > 0 and adjusted < ALPHA)
        case "worse":
            return not seen.loss > 0
        case "min_difference":
            # Of one segment there is no interval: then the difference itself counts.
            return not -seen.loss + (0.0 if math.isnan(reach) else reach) < limit.bound
        case "max" if seen.hits:
            return seen.hits[1] <= limit.bound
        case "max_rate" | "min_accuracy":
            assert seen.hits
            return seen.hits[1] <= _most(limit, seen)
        case "max":
            return seen.value <= limit.bound
        case _:
            return seen.value >= limit.bound


def _most(limit: Limit, seen: _Seen) -> int:
    """The largest number of segments or items that may be bad."""
    share = limit.bound if limit.rule == "max_rate" else 1 - limit.bound / 100
    return int(limit.bound) if limit.rule == "max" else math.floor(seen.n * share + 1e-9)


def _noticeable(limit: Limit, seen: _Seen, reach: float, alpha: float) -> float:
    """The smallest regression that the limit notices; see `Outcome`."""
    if seen.hits:
        if limit.rule != "worse":
            rate = noticeable_count_rate(_most(limit, seen), seen.n)
            return 100 - 100 * rate if limit.rule == "min_accuracy" and rate <= 1 else 100 * rate
        # Without a test, one bad segment more is enough.
        if limit.value != SIGNIFICANTLY:
            return 100 * noticeable_count_rate(0, seen.n)
        return 100 * noticeable_new_rate(seen.n, seen.background, alpha=alpha)
    if not seen.error > 0:
        return math.nan
    if limit.rule in ("min", "max"):
        shift = noticeable_shift(seen.error)
        reached = limit.bound + (shift if limit.rule == "max" else -shift)
        low, high = seen.bounds
        return reached if low <= reached <= high else math.inf
    if limit.rule == "min_difference":
        loss = noticeable_shift(seen.error, reach) - limit.bound
    elif limit.value == SIGNIFICANTLY:
        loss = noticeable_loss(seen.error, seen.n, alpha=alpha)
    else:
        loss = noticeable_shift(seen.error)
    return max(0.0, loss) if loss <= seen.room else math.inf


def _told(limit: Limit, seen: _Seen, outcome: Outcome) -> str:
    """What was seen, in figures."""
    if seen.hits and limit.rule != "worse":
        bad = seen.hits[1] if limit.rule != "min_accuracy" else seen.n - seen.hits[1]
        return f"{bad} of {seen.n} {seen.noun} ({seen.shown(seen.value)})"
    interval = ""
    if not math.isnan(outcome.low):
        ends = [f"{end:z.{seen.digits}f}" for end in (outcome.low, outcome.high)]
        interval = f" [{', '.join(ends)}]".replace("-", "−")
    if limit.rule in ("min", "max"):
        return f"{seen.metric} {seen.shown(seen.value)}{interval}"
    change = f"{seen.shown(seen.value - seen.other, '+')}{interval}"
    return (
        f"{seen.metric} {seen.shown(seen.other)} → {seen.shown(seen.value)}: {change}{_p(outcome)}"
    )


def _p(outcome: Outcome) -> str:
    if outcome.limit.value != SIGNIFICANTLY:
        return ""
    p = outcome.p_adjusted
    return ", p < 0.0001" if p < 0.00005 else f", p = {p:.4f}"


def _notices(limit: Limit, seen: _Seen, noticeable: float) -> str:
    """What the limit notices, in words."""
    if math.isnan(noticeable):
        return "unknown: no segment differs"
    if math.isinf(noticeable):
        return f"nothing, with {seen.n} {seen.noun}"
    figure = seen.shown(noticeable)
    match limit.rule:
        case "min_difference":
            return f"a loss of {figure} or more"
        case "worse" if seen.hits:
            return f"{figure} of the {seen.noun} newly wrong"
        case "worse":
            return f"a loss of {figure} or more"
        case "min" | "min_accuracy":
            return f"a true value of {figure} or less"
        case _:
            return f"a true value of {figure} or more"
