"""Annotations kept on disk by text, pipeline and version, so that nothing is tagged twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from assay.data import DataError
from assay.features.annotation import Annotation, Annotator
from assay.features.store import AnnotationCache
from assay.tracking import Track, untracked

__all__ = ["AnnotationCache", "CachedAnnotator", "default_path"]

CHUNK = 2000
"""Texts that are annotated between two visits to the disk: what a crash can lose."""


@dataclass(frozen=True)
class CachedAnnotator:
    """Another annotator, asked only for texts that the cache does not have, and once for each.

    `track` shows how far the annotator is: `partial(assay.cli.progress.track, label="Tagging")`.
    """

    annotator: Annotator
    cache: AnnotationCache
    track: Track = untracked

    @property
    def identity(self) -> str:
        """That of the other annotator."""
        return self.annotator.identity

    @property
    def layers(self) -> tuple[str, ...]:
        """Those of the other annotator."""
        return self.annotator.layers

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""
        identity = self.identity
        found = self.cache.read(identity, dict.fromkeys(lines))
        missing = [line for line in dict.fromkeys(lines) if line not in found]
        if missing:
            # Closed at once where it fails, so that no process goes on tagging for nobody.
            with closing(_stream(self.annotator, missing)) as stream:
                made = self.track(stream, total=len(missing))
                pairs = zip(missing, made, strict=True)
                while chunk := self._kept(identity, pairs):
                    found |= chunk
        return [found[line] for line in lines]

    def _kept(
        self, identity: str, pairs: Iterator[tuple[str, Annotation]]
    ) -> Mapping[str, Annotation]:
        """The next annotations, which are in the cache now, also where the rest fails."""
        chunk: dict[str, Annotation] = {}
        try:
            for line, annotation in islice(pairs, CHUNK):
                chunk[line] = annotation
        finally:
            self.cache.write(identity, chunk)
        return chunk


def default_path(
    environment: Mapping[str, str] | None = None, platform: str = sys.platform
) -> Path:
    """The database in the folder `$ASSAY_CACHE`, or else in the user's folder for caches.

    >>> str(default_path({"ASSAY_CACHE": "/tmp/kept"}))
    '/tmp/kept/annotations.sqlite'
    """
    given = os.environ if environment is None else environment
    return _folder(given, platform) / "annotations.sqlite"


def _folder(environment: Mapping[str, str], platform: str) -> Path:
    if chosen := environment.get("ASSAY_CACHE"):
        return Path(chosen)
    if platform == "win32" and (local := environment.get("LOCALAPPDATA")):
        return Path(local) / "assay" / "cache"
    if platform == "darwin":
        return _home(environment) / "Library" / "Caches" / "assay"
    shared = Path(environment.get("XDG_CACHE_HOME", ""))
    # A relative one is to be ignored, says the standard.
    return (shared if shared.is_absolute() else _home(environment) / ".cache") / "assay"


def _home(environment: Mapping[str, str]) -> Path:
    try:
        return Path(environment.get("HOME") or Path.home())
    except RuntimeError:
        raise DataError(
            "your home folder is not known: set ASSAY_CACHE to a folder for annotations."
        ) from None


def _stream(annotator: Annotator, lines: Sequence[str]) -> Generator[Annotation]:
    """The annotations one by one, from annotators that can, or else some at a time."""
    stream: Callable[[Sequence[str]], Iterator[Annotation]] | None
    stream = getattr(annotator, "stream", None)
    if stream is not None:
        yield from stream(lines)
        return
    for at in range(0, len(lines), CHUNK):
        some = lines[at : at + CHUNK]
        made = annotator.annotate(some)
        if len(made) != len(some):
            raise DataError(
                f"{annotator.identity} gave {len(made)} annotations for {len(some)} lines. "
                "An annotator gives one for each, also for an empty one."
            )
        yield from made
