"""Datasets from whatever the user names: files, tables, a folder, a test set of sacreBLEU's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from assay.data import DataError, Dataset, MissingInput, language_pair
from assay.io.files import (
    FilePath,
    bare_name,
    label,
    read_bytes,
    read_lines,
    read_text,
    split_lines,
    suffix,
    system_name,
)
from assay.io.records import ColumnChoice, read_records
from assay.io.tables import (
    TableRow,
    TextTable,
    has_header,
    parse_table,
    read_rows,
    read_table,
    whole_number,
)
from assay.io.wmt import SgmTexts, is_sgm, parse_sgm, read_sgm, read_wmt_xml
from assay.registry import Registry, did_you_mean
from assay.text import named_languages

__all__ = [
    "READERS",
    "TESTSET",
    "DatasetReader",
    "is_table",
    "read",
    "read_dataset",
    "read_documents",
    "read_groups",
    "read_labels",
    "read_testset",
    "read_texts",
    "reader_of",
]

TESTSET = "sacrebleu:"
"""What begins the name of a test set of sacreBLEU's."""


def read(
    path: FilePath | None = None,
    *,
    references: FilePath | Sequence[FilePath] | None = None,
    systems: FilePath | Sequence[FilePath] | Mapping[str, FilePath] | None = None,
    source: FilePath | None = None,
    languages: str | tuple[str, str] | None = None,
    documents: FilePath | None = None,
    groups: FilePath | None = None,
    names: Sequence[str] | None = None,
    columns: Mapping[str, ColumnChoice] | None = None,
) -> Dataset:
    """A test set from a folder, a table, sacreBLEU's collection, or single files.

    - `read("wmt21/de-en")`: a folder, as `read_folder` describes it; `references` and `systems`
      choose among its texts by name, `languages` among its language pairs
    - `read("outputs.tsv")`: a table (.tsv, .csv, .jsonl, .parquet) or WMT's .xml with all texts;
      `columns` says what its columns hold where they have other names than usual:
      `columns={"hypothesis": "output", "reference": "gold"}`
    - `read("sacrebleu:wmt18", languages="de-en", systems=["a.txt"])`: a test set of sacreBLEU's
    - `read(references="ref.txt", systems=["a.txt", "b.txt"], source="src.txt")`: single files,
      plain or in any of these formats; a mapping names the systems: `{"base": "a.txt"}`

    `documents` and `groups` are files with the document and the group (the domain, say) of each
    segment. `names` renames the systems.

    >>> import assay.demo
    >>> folder = Path(assay.demo.__file__).parent
    >>> data = read(references=folder / "ref.A.txt", systems=[folder / "systems" / "birch.txt"])
    >>> len(data), list(data.systems)
    (120, ['birch'])
    >>> sorted(read(folder, languages="de-en").human)
    ['da.seg', 'da.sys']
    """
    if isinstance(systems, Mapping):
        names = names or list(systems)
        systems = list(systems.values())
    chosen, outputs = _several(references), _several(systems)
    if path is None or is_table(path):
        if path is not None:
            outputs = [*(outputs or ()), path]
        return read_dataset(
            chosen or (),
            outputs or (),
            source=source,
            documents=documents,
            names=names,
            languages=languages,
            groups=groups,
            columns=columns,
        )
    if source is not None:
        raise DataError(f"{path} brings its own source: leave source= out.")
    if str(path).startswith(TESTSET):
        dataset = _read_testset(str(path), languages, chosen, outputs or (), names)
    else:
        dataset = _read_folder(Path(path), languages, chosen, outputs, names)
    if documents is not None:
        dataset = replace(dataset, documents=read_documents(documents))
    if groups is not None:
        dataset = replace(dataset, groups=read_groups(groups, len(dataset)))
    return dataset


def _several(paths: FilePath | Sequence[FilePath] | None) -> list[FilePath] | None:
    if paths is None:
        return None
    return [paths] if isinstance(paths, str | Path) else list(paths)


def _read_testset(
    name: str,
    languages: str | tuple[str, str] | None,
    references: Sequence[FilePath] | None,
    systems: Sequence[FilePath],
    names: Sequence[str] | None,
) -> Dataset:
    if languages is None:
        raise MissingInput("languages", f"{name} is there for several language pairs")
    if references is not None:
        raise DataError(f"{name} brings its own references: leave references= out.")
    return read_testset(
        name.removeprefix(TESTSET), _pair_name(languages), systems=systems, names=names
    )


def _read_folder(
    path: Path,
    languages: str | tuple[str, str] | None,
    references: Sequence[FilePath] | None,
    systems: Sequence[FilePath] | None,
    names: Sequence[str] | None,
) -> Dataset:
    if names is not None:
        raise DataError(f"{path} brings the names of its systems: leave names= out.")
    pair = None if languages is None else _pair_name(languages)
    if not path.is_dir() and path.parent.is_dir() and pair is None and path.name.count("-") == 1:
        # A pair of a folder in mt-metrics-eval's layout, which has no folder of its own.
        path, pair = path.parent, path.name
    if not path.exists():
        raise DataError(
            f"{path} does not exist. Check the path; a test set of sacreBLEU's is sacrebleu:NAME."
        )
    # Folders are read with `read_dataset`, so that their module imports this one.
    from assay.io.folders import read_folder

    return read_folder(
        path,
        pair,
        references=None if references is None else [str(name) for name in references],
        systems=None if systems is None else [str(name) for name in systems],
    )


def _pair_name(languages: str | tuple[str, str]) -> str:
    return languages if isinstance(languages, str) else "-".join(languages)


class DatasetReader(ABC):
    """Reads the files of one format.

    Its `name` is the ending of the files without the dot: files `a.xliff` (and `a.xliff.gz`, whose
    bytes `assay.io.files.read_bytes` unpacks) go to the reader called `xliff`. A package offers its
    own under the entry point group `assay.readers`.
    """

    name: ClassVar[str]

    @abstractmethod
    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """The dataset of a file; `columns` says what its columns hold, where it has any."""


class RecordsReader(DatasetReader):
    """Tables with a column for each part: TSV, CSV, JSON Lines, Parquet."""

    name = "tsv"

    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """As `read_records`."""
        return read_records(path, columns)


class XmlReader(DatasetReader):
    """WMT's XML."""

    name = "xml"

    def read(self, path: FilePath, columns: Mapping[str, ColumnChoice] | None = None) -> Dataset:
        """As `read_wmt_xml`; there are no columns."""
        return read_wmt_xml(path)


READERS: Registry[DatasetReader] = Registry(
    "file format",
    "assay.readers",
    {
        **dict.fromkeys(("tsv", "csv", "jsonl", "parquet"), "assay.io.datasets:RecordsReader"),
        "xml": "assay.io.datasets:XmlReader",
    },
    base=DatasetReader,
)
"""Readers by the ending of files."""

_TEXTS = ("", ".txt", ".sgm", ".sgml")
"""Endings of files with one text per segment, for which nobody needs to look up plug-ins."""


def is_table(path: FilePath) -> bool:
    """Whether a file's ending says that it can hold a whole dataset."""
    ending = suffix(path)
    return ending not in _TEXTS and ending[1:] in READERS and not Path(path).is_dir()


def reader_of(path: FilePath) -> DatasetReader:
    """The reader of a file for which `is_table` holds."""
    return READERS.parse(suffix(path)[1:])


def read_documents(path: FilePath) -> tuple[str, ...]:
    """One document id per segment.

    From a table with a column `doc_id` (and perhaps `line`), from lines `domain<TAB>id` as in
    mt-metrics-eval, from one id per line, or from WMT's SGML or XML.
    """
    match suffix(path):
        case ".sgm" | ".sgml":
            return read_sgm(path).documents
        case ".xml":
            return read_wmt_xml(path).documents
    rows = read_rows(path)
    if suffix(path) == ".docs":
        return _from_pairs(path, rows)
    if has_header(rows, "doc_id", "doc"):
        return _from_table(parse_table(path, rows))
    if len(rows[0].cells) > 1:
        return _from_pairs(path, rows)
    return tuple("\t".join(row.cells) for row in rows)


def read_labels(path: FilePath, length: int) -> dict[str, tuple[str, ...]]:
    """The labels of every segment by column, from a table with one row per segment.

    A column `line` says which segment a row is of. It is no label, nor are document ids
    (`doc_id`, `doc`, `seg_in_doc`), nor columns without any value.
    """
    table = read_table(path)
    if len(table.rows) != length:
        raise DataError(
            f"{label(path)}: {len(table.rows)} rows, but there are {length} segments. Give one row "
            "per segment, below a line that names the columns."
        )
    labels = {
        name: _by_line(table, [row.cells[at] for row in table.rows])
        for at, name in enumerate(table.columns)
        if name.strip().lower() not in ("line", "doc_id", "doc", "seg_in_doc")
    }
    return {name: values for name, values in labels.items() if any(values)}


def _from_table(table: TextTable) -> tuple[str, ...]:
    return _by_line(table, table.column("doc_id", "doc"))


def _by_line(table: TextTable, values: Sequence[str]) -> tuple[str, ...]:
    """The values in the order of the column `line`, where there is one."""
    place = table.find("line")
    if place is None:
        return tuple(values)
    by_line: dict[int, str] = {}
    for row, value in zip(table.rows, values, strict=True):
        line = whole_number(table.path, row.line, row.cells[place])
        if line in by_line or line > len(table.rows):
            raise DataError(
                f"{label(table.path)}, line {row.line}: the column 'line' must hold every number "
                f"from 1 to {len(table.rows)} once, and {line} is too much."
            )
        by_line[line] = value
    return tuple(by_line[line] for line in sorted(by_line))


def _from_pairs(path: FilePath, rows: Sequence[TableRow]) -> tuple[str, ...]:
    for row in rows:
        if len(row.cells) != 2:
            raise DataError(
                f"{label(path)}, line {row.line}: {len(row.cells)} cells. Write "
                "domain<TAB>document, or a header that names a column doc_id."
            )
    return tuple(row.cells[1] for row in rows)


def read_groups(path: FilePath, length: int) -> tuple[str, ...]:
    """The group of every segment (its domain, say), one per line."""
    groups = read_lines(path)
    if len(groups) != length:
        raise DataError(
            f"{path}: {len(groups)} lines, but there are {length} segments. "
            "Give one group per segment, a line each."
        )
    return groups


Role = Literal["reference", "system", "source"]

_SGM = (".sgm", ".sgml")
_ENDINGS = (".txt", ".gz", ".xz", *_SGM)


class _Part(NamedTuple):
    """What one file brings to a dataset."""

    path: FilePath
    role: Role
    data: Dataset


def read_texts(path: FilePath) -> tuple[str, ...]:
    """The texts of a plain or SGML file, one per segment."""
    return _column(path).lines


def read_dataset(
    references: Sequence[FilePath],
    systems: Sequence[FilePath],
    *,
    source: FilePath | None = None,
    documents: FilePath | None = None,
    names: Sequence[str] | None = None,
    languages: str | tuple[str, str] | None = None,
    groups: FilePath | None = None,
    columns: Mapping[str, ColumnChoice] | None = None,
) -> Dataset:
    """The dataset of these files, which must all have the same number of segments.

    Plain text and SGML hold one text per segment. XML, TSV, CSV, JSON Lines and Parquet can hold
    everything: what is not given by a file of its own is taken from them; `columns` says which
    of their columns hold what, as in `read_records`. `names` renames the systems. `documents`
    and `groups` hold one id per segment.
    """
    _check_standard_input([*references, *systems, source, documents, groups])
    roles: list[tuple[FilePath, Role]] = [(path, "reference") for path in references]
    roles += [(path, "system") for path in systems]
    roles += [] if source is None else [(source, "source")]
    if not roles:
        raise DataError("no files given: name references, or systems, or both.")
    parts = [_Part(path, role, _read(path, role, columns)) for path, role in roles]
    _check_lengths(parts)
    length = len(parts[0].data)
    found = _agreed(parts, "documents")
    return Dataset(
        systems=_systems(parts, names),
        references=_references(parts),
        sources=_agreed(_of(parts, "source") or parts, "sources"),
        documents=found if documents is None else _documents(documents, parts[0]),
        groups=_agreed(parts, "groups") if groups is None else read_groups(groups, length),
        name=_first(parts, "name", ""),
        languages=_first(parts, "languages", None) if languages is None else _pair(languages),
        reference_names=_reference_names(parts),
        named_languages=_named_languages(parts),
    )


def _pair(languages: str | tuple[str, str]) -> tuple[str, str]:
    return language_pair(languages) if isinstance(languages, str) else languages


def _named_languages(parts: Sequence[_Part]) -> tuple[str, str]:
    paths = {role: [str(Path(e.path).absolute()) for e in _of(parts, role) if str(e.path) != "-"]
             for role in get_args(Role)}  # fmt: skip
    return named_languages(paths["reference"], paths["system"], next(iter(paths["source"]), None))


def _column(path: FilePath) -> SgmTexts:
    if is_table(path) and not _is_old_xml(path):
        raise DataError(f"{path} holds a whole dataset; plain text or SGML is needed here.")
    text = read_text(path)
    if suffix(path) in (*_SGM, ".xml") or (_begins_with_tag(text) and is_sgm(text)):
        return parse_sgm(path, text)
    return SgmTexts(split_lines(text), ())


def _begins_with_tag(text: str) -> bool:
    """Whether a text may be SGML: plain text hardly ever is, and is not searched for its tags."""
    return text[:2000].lstrip().startswith("<")


def _is_old_xml(path: FilePath) -> bool:
    """Whether an .xml file holds WMT's older SGML, as IWSLT's do."""
    return suffix(path) == ".xml" and is_sgm(read_bytes(path)[:4000].decode("latin-1"))


def _read(path: FilePath, role: Role, columns: Mapping[str, ColumnChoice] | None) -> Dataset:
    if is_table(path) and not _is_old_xml(path):
        return reader_of(path).read(path, columns)
    lines, documents = _column(path)
    bare = ((),) * len(lines)
    name = bare_name(path, _ENDINGS) if suffix(path) in _SGM else system_name(path)
    match role:
        case "reference":
            texts = tuple((line,) for line in lines)
            return Dataset({}, texts, documents=documents, reference_names=(name,))
        case "system":
            return Dataset({name: lines}, bare, documents=documents)
        case "source":
            return Dataset({}, bare, sources=lines, documents=documents)


def _check_standard_input(paths: Sequence[FilePath | None]) -> None:
    if [str(path) for path in paths].count("-") > 1:
        raise DataError("'-' is given twice, but standard input can be read only once.")


def _check_lengths(parts: Sequence[_Part]) -> None:
    for part in parts:
        _check_length(part.path, len(part.data), parts[0])


def _check_length(path: FilePath, length: int, first: _Part) -> None:
    if length != len(first.data):
        raise DataError(
            f"{label(path)}: {length} lines, but {label(first.path)} has {len(first.data)}. "
            "Each file needs one line per source segment; blank lines count."
        )


def _of(parts: Sequence[_Part], role: Role) -> list[_Part]:
    return [part for part in parts if part.role == role]


def _systems(parts: Sequence[_Part], names: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    found = [
        (name, lines, part.path)
        for part in _of(parts, "system") or parts
        for name, lines in part.data.systems.items()
    ]
    if names is not None and len(names) != len(found):
        raise DataError(f"{len(names)} names for {len(found)} systems; give one for each.")
    paths: dict[str, FilePath] = {}
    for (default, _, path), name in zip(found, names or [""] * len(found), strict=True):
        name = name or default
        if name in paths:
            raise DataError(_named_twice(name, paths[name], path, given=names is not None))
        paths[name] = path
    return {name: lines for name, (_, lines, _) in zip(paths, found, strict=True)}


def _named_twice(name: str, first: FilePath, second: FilePath, *, given: bool) -> str:
    if given:
        return f"the name {name!r} is given twice; each system needs its own."
    if str(first) == str(second):
        return f"{first} is given twice as a system. Give it once, or name both: pass names=..."
    return f"{first} and {second} both hold a system {name!r}. Tell them apart: pass names=..."


def _references(parts: Sequence[_Part]) -> tuple[tuple[str, ...], ...]:
    """The references of all reference files; without such files, those all tables agree on."""
    if given := _of(parts, "reference"):
        sets = [part.data.references for part in given]
        return tuple(tuple(chain(*each)) for each in zip(*sets, strict=True))
    bare = ((),) * len(parts[0].data)
    return _agreed([part for part in parts if any(part.data.references)], "references") or bare


def _reference_names(parts: Sequence[_Part]) -> tuple[str, ...]:
    given = _of(parts, "reference")
    if not given:
        names: tuple[str, ...] = _first(parts, "reference_names", ())
        return names
    if any(any(part.data.references) and not part.data.reference_names for part in given):
        return ()
    return tuple(chain(*(part.data.reference_names for part in given)))


def _documents(path: FilePath, first: _Part) -> tuple[str, ...]:
    documents = read_documents(path)
    _check_length(path, len(documents), first)
    return documents


def _first(parts: Sequence[_Part], field: str, default: Any) -> Any:
    return next((value for part in parts if (value := getattr(part.data, field))), default)


def _agreed(parts: Sequence[_Part], field: str) -> tuple[Any, ...]:
    """What the files that have it say, which must be the same; empty where none has it."""
    told = [part for part in parts if getattr(part.data, field)]
    for part in told[1:]:
        pairs = zip(getattr(part.data, field), getattr(told[0].data, field), strict=True)
        for number, (one, other) in enumerate(pairs, 1):
            if one != other:
                raise DataError(
                    f"{label(part.path)} and {label(told[0].path)} differ in their {field} at "
                    f"segment {number}. All files need the same segments in the same order."
                )
    return getattr(told[0].data, field) if told else ()


class _Testset(NamedTuple):
    name: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    documents: tuple[str, ...]


def read_testset(
    name: str,
    languages: str,
    *,
    systems: Sequence[FilePath] = (),
    names: Sequence[str] | None = None,
) -> Dataset:
    """A test set by sacreBLEU's name, with these systems' outputs.

    sacreBLEU downloads it when it is first used. Several test sets are joined by commas
    (`wmt17,wmt18`), one after the other.
    """
    parts = [_read_set(each, languages) for each in name.split(",")]
    references = tuple(chain(*(part.references for part in parts)))
    if len({len(each) for each in references}) > 1:
        raise DataError(f"{name}: these test sets differ in their number of references.")
    outputs = read_dataset([], systems, names=names).systems if systems else {}
    for system, lines in outputs.items():
        if len(lines) != len(references):
            raise DataError(
                f"system {system!r}: {len(lines)} lines, but {name} {languages} has "
                f"{len(references)}. Each file needs one line per segment; blank lines count."
            )
    return Dataset(
        systems=outputs,
        references=references,
        sources=tuple(chain(*(part.sources for part in parts))),
        documents=_set_documents(parts),
        name=name,
        languages=language_pair(languages),
    )


def _set_documents(parts: Sequence[_Testset]) -> tuple[str, ...]:
    if not all(part.documents for part in parts):
        return ()
    if len(parts) == 1:
        return parts[0].documents
    return tuple(f"{part.name}:{document}" for part in parts for document in part.documents)


def _read_set(name: str, languages: str) -> _Testset:
    testset = _find(name, languages)
    try:
        source = Path(testset.get_source_file(languages))
        references = [Path(path) for path in testset.get_reference_files(languages)]
        fields = dict(zip(testset.fieldnames(languages), testset.get_files(languages), strict=True))
    # sacreBLEU ends the process where a download is damaged.
    except (Exception, SystemExit) as error:
        raise DataError(_not_fetched(name, languages, error)) from None
    dataset = read_dataset(references, [], source=source)
    return _Testset(
        name, dataset.sources, dataset.references, _ids(fields.get("docid"), len(dataset))
    )


def _find(name: str, languages: str) -> Any:
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        known = ", ".join(sorted(DATASETS))
        raise DataError(f"no test set {name!r}{did_you_mean(name, DATASETS)}. Known: {known}.")
    pairs = sorted(DATASETS[name].langpairs)
    if languages not in pairs:
        raise DataError(f"{name} has no language pair {languages!r}. It has {', '.join(pairs)}.")
    return DATASETS[name]


def _ids(path: str | None, length: int) -> tuple[str, ...]:
    """The document of every segment, where the test set tells."""
    if path is None or not Path(path).stat().st_size:
        return ()
    documents = read_lines(path)
    return documents if len(documents) == length and all(documents) else ()


def _not_fetched(name: str, languages: str, error: BaseException) -> str:
    reason = "damaged download" if isinstance(error, SystemExit) else str(error)
    return (
        f"the test set {name} {languages} could not be fetched ({reason}). Where there is a "
        f"network, run: sacrebleu -t {name} -l {languages} --echo src; then copy its folder "
        "~/.sacrebleu here, or set the variable SACREBLEU to the copy."
    )
