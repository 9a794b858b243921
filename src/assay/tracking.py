"""How work tells how far it is, to whoever wants to see."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

__all__ = ["Track", "untracked"]

T = TypeVar("T")


class Track(Protocol):
    """Shows how far the work is: gives back the steps as they are.

    The command line passes `partial(assay.cli.progress.track, label=...)`.
    """

    def __call__(self, steps: Iterable[T], /, *, total: int) -> Iterable[T]:
        """The same steps, of which there are `total`."""


def untracked(steps: Iterable[T], /, *, total: int) -> Iterable[T]:
    """The steps, for nobody to see."""
    return steps
