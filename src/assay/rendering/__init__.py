"""Results for people and machines: text, Markdown, LaTeX, HTML, CSV, TSV, JSON, Excel, Parquet."""

from assay.rendering.formats import FORMATS, OutputFormat, endings, format_of, render, save

__all__ = ["FORMATS", "OutputFormat", "endings", "format_of", "render", "save"]
