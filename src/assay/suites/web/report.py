"""The report as a page: accuracies of systems with clusters, each leading to its outputs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from sqlalchemy import false

from assay.suites.accuracy import AccuracyRow, Policy
from assay.suites.evaluation import suite_report
from assay.suites.report import ReportResult
from assay.suites.store.blind import hidden_from
from assay.suites.store.opening import Store
from assay.suites.store.runs import campaigns, read_run, stored_runs
from assay.suites.store.state import state
from assay.suites.web.requests import Form, Visitor
from assay.suites.web.site import site_of

__all__ = ["asked_report", "router"]

router = APIRouter()

KEPT = 20
"""So many reports are kept until something changes."""


class ReportChoice(NamedTuple):
    """What the address of a report asks for; all systems where it names none."""

    campaign: str
    systems: tuple[str, ...]
    policy: Policy

    @property
    def query(self) -> str:
        """The choice as it stands in an address."""
        values = {"campaign": self.campaign, "system": self.systems, "policy": self.policy}
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)


class ReportCell(NamedTuple):
    """An accuracy as it is shown; `first` where no system is significantly better."""

    text: str
    interval: str
    first: bool
    address: str


class ReportLine(NamedTuple):
    """A row of the report, with a cell per system."""

    level: str
    name: str
    items: int
    cells: list[ReportCell]


@router.get("/report")
def report(request: Request, session: Visitor) -> Response:
    """How many items each system gets right."""
    site, choice = site_of(request), _choice(request)
    with site.store.read() as conn:
        stored = stored_runs(conn)
    result = asked_report(request, session.person.id) if stored else None
    return site.page(
        "report",
        session,
        choice=choice,
        campaigns=[name for name in reversed(campaigns(stored)) if name],
        systems=list(dict.fromkeys(run.system for run in stored)),
        policies=get_args(Policy),
        names=result.accuracies.systems if result else (),
        lines=[_line(result, row, choice) for row in result.accuracies.rows] if result else [],
        note=result.note("row") if result else "",
    )


def asked_report(request: Request, person: int | None) -> ReportResult:
    """The report that an address asks for, as this person may see it; None may see everything."""
    store = site_of(request).store
    with store.read() as conn:
        now = state(conn)
        # Those from whom nothing is hidden share one report.
        viewer = None if hidden_from(conn, person) is false() else person
    return _made(store, now, viewer, _choice(request))


@lru_cache(KEPT)
def _made(
    store: Store, now: tuple[object, ...], viewer: int | None, choice: ReportChoice
) -> ReportResult:
    """The report of one state of the store: it takes a second, and is asked for again and again."""
    wanted = (choice.campaign,) if choice.campaign else ()
    return suite_report(
        read_run(store, wanted, choice.systems, person=viewer), policy=choice.policy
    )


def _choice(request: Request) -> ReportChoice:
    query = request.query_params
    policy = Form({"policy": query.get("policy", "") or "fair"}).one_of("policy", get_args(Policy))
    systems = tuple(name for name in query.getlist("system") if name)
    return ReportChoice(query.get("campaign", ""), systems, policy)


def _line(result: ReportResult, row: AccuracyRow, choice: ReportChoice) -> ReportLine:
    cells = [
        ReportCell(
            text="–" if not row.items[at] else f"{row.accuracy[at]:.1f}",
            interval=f"{row.low[at]:.1f} to {row.high[at]:.1f}" if row.items[at] else "",
            first=row.first_cluster[at],
            address=_address(row, system, choice),
        )
        for at, system in enumerate(result.accuracies.systems)
    ]
    return ReportLine(row.level, row.name, row.size, cells)


def _address(row: AccuracyRow, system: str, choice: ReportChoice) -> str:
    """Where the outputs behind a cell are listed."""
    values = {"system": system.removesuffix(f" ({choice.campaign})"), "campaign": choice.campaign}
    values |= {"category": row.category}
    if row.level == "phenomenon":
        values |= {"phenomenon": row.name}
    return "/browse?" + urlencode({name: value for name, value in values.items() if value})
