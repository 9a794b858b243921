"""Annotations by spaCy pipelines, by name or from a folder, in one process or several."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from assay.data import DataError
from assay.features.annotation import Annotation, TokenSpan, pack, shared_span, unpack
from assay.features.pipelines import (
    Pipeline,
    check_language,
    default_pipeline,
    find_pipeline,
    spacy_version,
)
from assay.languages import check_text

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["SpacyAnnotator", "annotate_batch", "answers", "default_pipeline"]


LAYERS = ("upos", "tag", "ner", "morph", "dep")

PROCESSES = 8
"""The most that are started unasked; each holds a pipeline in memory."""

SHARE = 1000
"""The lines for which one more process pays: it takes a second or two to start."""

LONGEST = 1_000_000
"""The characters of a line that spaCy takes: parsing needs about a gigabyte for so many."""


@dataclass(frozen=True)
class SpacyAnnotator:
    """Tags, entities, morphology and dependencies, as a spaCy pipeline sees them.

    `model` is the name of an installed pipeline or a folder; without one it is the default for
    `language`, the language of the texts where it is known. With neither it is for English, and
    texts that are seen to be in another language are refused. Without `processes` there are several
    for long inputs on machines with several cores. Neither they nor the order of the lines change
    the outcome. White space is no token.
    """

    model: str = ""
    language: str = ""
    processes: int | None = None
    batch_size: int = 256

    def __post_init__(self) -> None:
        for name in ("processes", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise DataError(f"{name}={value}: give at least 1.")

    @property
    def identity(self) -> str:
        """`spacy:`, the pipeline with its version, and spaCy's version."""
        pipeline = self._pipeline()
        return f"spacy:{pipeline.identity}:{spacy_version()}"

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that a full pipeline gives; one without a parser, say, leaves `dep` empty."""
        return LAYERS

    def annotate(self, lines: Sequence[str]) -> list[Annotation]:
        """One annotation per line, in order."""
        return list(self.stream(lines))

    def stream(self, lines: Sequence[str]) -> Iterator[Annotation]:
        """The same one by one, as they are made."""
        pipeline = self._pipeline()
        _check_lines(lines)
        if not (self.model or self.language):
            check_text(lines, "en", "tagging as English", "Name the language or a pipeline")
        model = str(pipeline.folder) if not pipeline.packaged else pipeline.name
        batches = [lines[at : at + self.batch_size] for at in range(0, len(lines), self.batch_size)]
        processes = min(self.processes or _suitable(len(lines)), len(batches))
        if processes < 2:
            for batch in batches:
                yield from annotate_batch(model, batch)
            return
        with closing(answers(model, batches, processes=processes)) as found:
            for batch, answer in zip(batches, found, strict=True):
                # A process may be killed, for want of memory say: then this one does it.
                yield from annotate_batch(model, batch) if answer is None else answer

    def _pipeline(self) -> Pipeline:
        pipeline = find_pipeline(self.model or default_pipeline(self.language or "en"))
        if self.language:
            check_language(pipeline, self.language)
        return pipeline


def annotate_batch(model: str, lines: Sequence[str]) -> list[Annotation]:
    """The annotations of a few lines, made together in this process."""
    nlp = _load(model)
    return [_annotation(doc) for doc in nlp.pipe(lines, batch_size=len(lines))]


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    """The loaded pipeline; lemmas are left out, being no feature.

    All else stays, whatever is asked for: English tags depend on the parse.
    """
    pipeline = find_pipeline(model)
    pipeline.check_files()
    version = spacy_version()
    import spacy

    with warnings.catch_warnings():
        # Made for another version of spaCy. Both versions are part of the identity.
        warnings.filterwarnings("ignore", message=r"\[W09[45]\]")
        try:
            nlp = spacy.load(model, exclude=["lemmatizer"])
        except (OSError, ValueError, ImportError, KeyError) as error:
            wanted = pipeline.meta.get("spacy_version", "another version")
            reason = " ".join(str(error).split())[:200]
            raise DataError(
                f"the pipeline {model} cannot be loaded by spaCy {version} ({reason}). "
                f"It is made for spaCy {wanted}; install one that fits, or the pipeline anew."
            ) from None
    return nlp


def _check_lines(lines: Sequence[str]) -> None:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise DataError(
                f"line {number} has {len(line)} characters, too many to tag. "
                "Each line is one segment: is the file cut into lines?"
            )
        if not line.isascii() and any("\ud800" <= mark <= "\udfff" for mark in line):
            raise DataError(
                f"line {number} holds half a character, which cannot be tagged. "
                "Repair the text where it was made."
            )


def _suitable(lines: int) -> int:
    """How many processes pay for so many lines: one up to 2,000."""
    if lines <= 2 * SHARE:
        return 1
    return min(_cores(), PROCESSES, lines // SHARE)


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _annotation(doc: Doc) -> Annotation:
    tokens = [token for token in doc if not token.is_space]
    layers = {
        # SPACE is no universal tag; a character that only looks like white space may get it.
        "upos": _each("X" if token.pos_ == "SPACE" else token.pos_ for token in tokens),
        "tag": _each(token.tag_ for token in tokens),
        "ner": _entities(doc),
        "morph": tuple(
            shared_span(at, at + 1, feature)
            for at, token in enumerate(tokens)
            for feature in str(token.morph).split("|")
            if feature
        ),
        "dep": _each(token.dep_.lower() for token in tokens),
    }
    return Annotation(tuple(token.text for token in tokens), layers)


def _each(labels: Iterator[str]) -> tuple[TokenSpan, ...]:
    """One span per token; what the pipeline does not say has none."""
    return tuple(shared_span(at, at + 1, label) for at, label in enumerate(labels) if label)


def _entities(doc: Doc) -> tuple[TokenSpan, ...]:
    """The entities, in positions that do not count white space."""
    before = list(accumulate((not token.is_space for token in doc), initial=0))
    spans = (shared_span(before[ent.start], before[ent.end], ent.label_) for ent in doc.ents)
    return tuple(span for span in spans if span.start < span.end)


Batch = Sequence[str]


def answers(
    model: str, batches: Sequence[Batch], *, processes: int
) -> Generator[list[Annotation] | None]:
    """The annotations of each batch, in order; None where a process could not say."""
    workers = [_Worker(model) for _ in range(processes)]
    free: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def answer(batch: Batch) -> list[Annotation] | None:
        worker = free.get()
        try:
            return worker.ask(batch)
        finally:
            free.put(worker)

    threads = ThreadPoolExecutor(processes)
    try:
        yield from threads.map(answer, batches)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        threads.shutdown()


class _Worker:
    """A process with a pipeline in it; one that dies answers None from then on.

    It is a plain child that speaks JSON, a line for every batch: neither forked, which threads (a
    progress bar's) make unsafe, nor spawned by `multiprocessing`, which runs the user's script
    again. So it works alike wherever Python does.
    """

    def __init__(self, model: str) -> None:
        self._process: subprocess.Popen[bytes] | None
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "assay.features.spacy", model],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except OSError:
            self._process = None

    def ask(self, batch: Batch) -> list[Annotation] | None:
        """What the process makes of the batch."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(json.dumps(list(batch)).encode() + b"\n")
            process.stdin.flush()
            found = [unpack(packed) for packed in json.loads(process.stdout.readline())]
        except (OSError, ValueError):
            return None
        return found if len(found) == len(batch) else None

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in filter(None, (self._process.stdin, self._process.stdout)):
                # What could not be written to a process that is gone needs no writing.
                with suppress(OSError):
                    stream.close()


def _environment() -> dict[str, str]:
    """The child finds the same modules; one thread each, since the processes share the cores."""
    path = os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def _work(model: str) -> None:
    """Answer batches from standard input until it ends."""
    # The parent ends its children; a person's Ctrl-C is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever a pipeline prints goes with the errors, not among the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        found = [pack(annotation) for annotation in annotate_batch(model, json.loads(line))]
        output.write(json.dumps(found).encode() + b"\n")
        output.flush()


if __name__ == "__main__":
    _work(sys.argv[1])
