"""What all pages of one server share: the store, the settings and the templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from assay.suite.store.opening import Store
from assay.suite.store.records import Annotator
from assay.suite.web import wording
from assay.suite.web.attempts import Attempts
from assay.suite.web.settings import Settings
from assay.version import __version__

__all__ = ["HERE", "Person", "Site", "site_of", "wants_json"]

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Person:
    """Who is asking, and the token that the forms of this login carry."""

    annotator: Annotator
    csrf: str


@dataclass(frozen=True)
class Site:
    """The pages of one store."""

    store: Store
    settings: Settings
    attempts: Attempts = field(default_factory=Attempts)
    templates: Environment = field(default_factory=lambda: _templates())

    def fragment(self, name: str, person: Person | None, /, **values: Any) -> str:
        """A template filled in; every value is escaped."""
        template = self.templates.get_template(f"{name}.html.j2")
        return template.render(person=person, settings=self.settings, **values)

    def page(
        self, name: str, person: Person | None, /, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A whole page."""
        return HTMLResponse(self.fragment(name, person, page=name, **values), status)


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    return cast(Site, request.app.state.site)


def wants_json(request: Request) -> bool:
    """Whether the page's script asks; else it is a browser on its way to a page."""
    return "application/json" in request.headers.get("accept", "")


def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _filters()
    environment.globals["version"] = __version__
    return environment


def _filters() -> Mapping[str, Any]:
    return {name: getattr(wording, name) for name in wording.__all__}
