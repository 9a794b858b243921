"""Tables of translations: one row per segment, or per system and segment."""

from __future__ import annotations

from collections.abc import Iterator

from assay.data import DataError, Dataset
from assay.io.files import FilePath, label
from assay.io.lines import bare_name
from assay.io.records import About, Layout, Record, assemble, layout, reference_columns
from assay.io.tables import Row, TextTable, read_table, write_table

__all__ = ["read_tsv", "write_tsv"]


def read_tsv(path: FilePath) -> Dataset:
    """The dataset of a table whose header names the columns.

    Long: `system` and `mt`, one row per system and segment. Wide: `mt:NAME` for every system,
    one row per segment. Besides, `src`, `ref` (or `ref1`, `ref:NAME` ...) and `doc`, and the
    other names that `layout` knows. Nothing is escaped: backslashes and quotes are text.
    """
    table = read_table(path)
    try:
        columns = layout(table.columns)
    except DataError as error:
        raise DataError(f"{label(path)}, line 1: {error}") from None
    if not (columns.references or columns.texts or "source" in columns.single):
        raise DataError(
            f"{label(path)}, line 1: no column is called src, ref, mt or mt:NAME (there are "
            f"{', '.join(table.columns)[:200]}). Name the columns, or give plain text as .txt."
        )
    return assemble(
        path, [record for row in table.rows for record in _records(table, columns, row)]
    )


def write_tsv(dataset: Dataset, path: FilePath) -> None:
    """Write a wide table, one row per segment; `read_tsv` gives the same dataset back.

    Tabs, line breaks and a varying number of references do not fit in a table and are errors.
    """
    columns = dict(_columns(dataset, path))
    if not columns or not len(dataset):
        raise DataError(f"{path}: the dataset has no texts to write.")
    write_table(path, list(columns), list(zip(*columns.values(), strict=True)))


def _records(table: TextTable, columns: Layout, row: Row) -> Iterator[Record]:
    cells = dict(zip(table.columns, row.cells, strict=True))

    def cell(part: str) -> str | None:
        return cells[columns.single[part]] if part in columns.single else None

    about = About(
        cell("name") or "",
        cell("source_language") or "",
        cell("target_language") or "",
        columns.reference_names,
    )
    default = cell("system")
    if default is None:
        default = bare_name(table.path, (".tsv", ".txt", ".gz", ".xz"))
    references = tuple(cells[key] for _, key in columns.references)
    for name, key in columns.texts or (("", ""),):
        text = cells[key] if key else None
        yield Record(
            row.line, name or default, text, references, cell("source"), cell("document"), about
        )


def _columns(dataset: Dataset, path: FilePath) -> Iterator[tuple[str, tuple[str, ...]]]:
    references = reference_columns(path, dataset)
    names = [name for name, _ in references]
    if len(set(names)) < len(names) and any(names):
        raise DataError(f"{path}: two references have the same name. Rename one.")
    if dataset.documents:
        yield "doc", dataset.documents
    if dataset.sources:
        yield "src", dataset.sources
    for number, (name, lines) in enumerate(references, 1):
        yield f"ref:{name}" if name else f"ref{number}" if len(references) > 1 else "ref", lines
    for name, lines in dataset.systems.items():
        if not name:
            raise DataError(f"{path}: a system needs a name to head its column.")
        yield f"mt:{name}", lines
    source, target = dataset.languages or ("", "")
    about = {"dataset": dataset.name, "source_language": source, "target_language": target}
    yield from ((key, (value,) * len(dataset)) for key, value in about.items() if value)
