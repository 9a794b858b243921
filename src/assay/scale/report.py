"""The result of `score_shards`: scores as `score` shows them, and what became of the shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.results import Record
from assay.scoring import ScoreResult

if TYPE_CHECKING:
    from assay.scale.shards import ShardOutcome

__all__ = ["ShardsResult"]


@dataclass(frozen=True, eq=False)
class ShardsResult(ScoreResult):
    """Scores of a corpus in shards; `where` is the condition on rows that were written."""

    shards: tuple[ShardOutcome, ...] = ()
    where: str | None = None

    @property
    def segments(self) -> int:
        """All segments of the corpus."""
        return sum(outcome.segments for outcome in self.shards)

    @property
    def passed(self) -> int:
        """The rows that the condition let pass; all of them without one."""
        return sum(outcome.passed for outcome in self.shards)

    def summary(self) -> list[str]:
        """How many segments and shards there are, and how many were done before or pass."""
        earlier = sum(not outcome.reason for outcome in self.shards)
        plural = "s" if len(self.shards) != 1 else ""
        done = f", {earlier} of them scored by an earlier run" if earlier else ""
        found = [f"{self.segments:,} segments in {len(self.shards)} shard{plural}{done}."]
        if self.where is not None:
            share = self.passed / max(1, self.segments)
            found.append(f"{self.passed:,} rows ({share:.1%}) pass {self.where}.")
        return found

    def inputs(self) -> list[Record]:
        """The files that the scores are of, for the record."""
        return [
            {
                "path": outcome.shard.path,
                "sha256": outcome.sha256,
                "segments": outcome.segments,
            }
            for outcome in self.shards
        ]
