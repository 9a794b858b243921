"""All that is found about one metric."""

from __future__ import annotations

from dataclasses import dataclass

from assay.meta.sensitivity.best import Best
from assay.meta.sensitivity.sizes import Size
from assay.meta.sensitivity.slope import Slope
from assay.meta.sensitivity.stages import Stages

__all__ = ["Finding"]


@dataclass(frozen=True, eq=False)
class Finding:
    """Both stages, and what was asked besides; empty where it was not."""

    stages: Stages
    best: tuple[Best, ...] = ()
    sizes: tuple[Size, ...] = ()
    slopes: tuple[Slope, ...] = ()
