"""How far people agree, by phenomenon and by pair, and where they do not."""

from __future__ import annotations

import math
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Request, Response

from assay.registry import SEED
from assay.suites.store.ratings import (
    PairAgreement,
    RaterCoefficient,
    alpha,
    pair_agreements,
    ratings,
)
from assay.suites.store.records import Ratings
from assay.suites.web.requests import Visitor
from assay.suites.web.site import site_of

__all__ = ["router"]

router = APIRouter()


class AgreementLine(NamedTuple):
    """How far people agree on something; figures as they are shown, since some are unknown."""

    names: tuple[str, ...]
    outputs: int
    same: str
    figure: str
    interval: str
    differ: int
    address: str
    more: str = ""


@router.get("/agreement")
def agreement(request: Request, session: Visitor) -> Response:
    """Krippendorff's alpha by phenomenon, and Cohen's kappa of every two people."""
    site, query = site_of(request), request.query_params
    category, phenomenon = query.get("category", ""), query.get("phenomenon", "")
    with site.store.read() as conn:
        found = ratings(conn)
    shown = found.of(category, phenomenon) if phenomenon else found
    rng = np.random.default_rng(SEED)
    return site.page(
        "agreement",
        session,
        phenomenon=phenomenon,
        lines=_lines(found, rng),
        pairs=[_pair(pair, category, phenomenon) for pair in pair_agreements(shown, rng=rng)],
    )


def _lines(found: Ratings, rng: np.random.Generator) -> list[AgreementLine]:
    """All outputs together, then each phenomenon."""
    if not found.outputs:
        return []
    every = [_line(found, ("all phenomena",), {}, rng)]
    for category, phenomenon in dict.fromkeys(sorted(found.phenomena)):
        asked = {"category": category, "phenomenon": phenomenon}
        part = found.of(category, phenomenon)
        every.append(_line(part, (category, phenomenon), asked, rng))
    return every


def _line(
    found: Ratings, names: tuple[str, ...], asked: dict[str, str], rng: np.random.Generator
) -> AgreementLine:
    people = [bool((~np.isnan(row)).any()) for row in found.codes]
    here = [name for name, some in zip(found.people, people, strict=True) if some]
    differ = int((np.nanmax(found.codes, axis=0) != np.nanmin(found.codes, axis=0)).sum())
    pair = {"person": here[0], "against": here[1]} if len(here) == 2 else {"verdict": "disputed"}
    return AgreementLine(
        names,
        len(found.outputs),
        f"{1 - differ / len(found.outputs):.0%}",
        *_figures(alpha(found, rng=rng)),
        differ,
        f"/browse?{urlencode(asked | pair)}",
        f"/agreement?{urlencode(asked)}",
    )


def _pair(pair: PairAgreement, category: str, phenomenon: str) -> AgreementLine:
    asked = {"category": category, "phenomenon": phenomenon}
    asked |= {"person": pair.first, "against": pair.second}
    return AgreementLine(
        (pair.first, pair.second),
        pair.outputs,
        f"{pair.same / pair.outputs:.0%}",
        *_figures(pair.kappa),
        pair.outputs - pair.same,
        "/browse?" + urlencode({name: value for name, value in asked.items() if value}),
    )


def _figures(found: RaterCoefficient) -> tuple[str, str]:
    value = "unknown" if math.isnan(found.value) else f"{found.value:.2f}"
    return value, "" if math.isnan(found.low) else f"{found.low:.2f} to {found.high:.2f}"
