"""LaTeX: every special character escaped, and tables that compile."""

import re
import shutil
import string
import subprocess

import pytest
from hypothesis import example, settings
from hypothesis import given as having
from hypothesis import strategies as st

from assay.report import latex
from assay.report.cells import visible
from assay.report.latex import escape
from assay.results import Span, Table

ANY = st.text(st.characters(exclude_categories=()), max_size=40)
TOKENS = re.compile(
    r"\\text[a-z]+\{\}|\\[{}$&#_%]|\{\\char\d+\}|\{[\[\]*]\}|\\ensuremath\{[-\\a-zA-Z]+\}|-\{\}"
)
NAMES = {"textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textbar": "|"}
NAMES |= {"textless": "<", "textgreater": ">", "textendash": "–"}
MATHS = {"-": "−", "\\pm": "±", "\\times": "×", "\\leq": "≤", "\\geq": "≥", "\\infty": "∞"}
MATHS |= {"\\uparrow": "↑", "\\downarrow": "↓"}
MATHS |= {"\\rightarrow": "→", "\\Delta": "Δ", "\\kappa": "κ", "\\rho": "ρ", "\\tau": "τ"}


def typeset(source):
    """What the source prints, in the part of LaTeX that escaped text may use."""
    return TOKENS.sub(lambda match: _token(match[0]), source)


def _token(token):
    if name := re.fullmatch(r"\\(text[a-z]+)\{\}", token):
        return NAMES[name[1]]
    if math := re.fullmatch(r"\\ensuremath\{(.*)\}", token):
        return MATHS[math[1]]
    if code := re.fullmatch(r"\{\\char(\d+)\}", token):
        return chr(int(code[1]))
    return token.strip("{}") if token[0] == "{" else token.replace("{}", "").lstrip("\\")


@having(words=ANY)
@example(words=string.printable)
@example(words="---- \\{}")
@settings(max_examples=200)
def test_escaped_text_has_no_bare_specials_and_prints_as_it_was(words):
    escaped = escape(words)
    bare = TOKENS.sub("", escaped)
    assert not set(bare) & set('\\{}$&#^_~%<>[]*|"`\n')
    assert "--" not in escaped
    assert typeset(escaped) == visible(words)


def test_a_table_is_one_booktabs_float(given):
    rows = [("A & B", 1.5, -2.0), ("C", 2.5, None)]
    table = Table("50 %", ("system", "x_1", "y"), rows, note="n#1", best={"x_1": "high"})
    assert latex(given([table]), digits=1).split("\n") == [
        "\\begin{table}[htbp]",
        "\\centering",
        "\\caption{50 \\%}",
        "\\begin{tabular}{lrr}",
        "\\toprule",
        "system & x\\_1 & y \\\\",
        "\\midrule",
        "A \\& B & 1.5 & $-$2.0 \\\\",
        "C & \\textbf{2.5} &  \\\\",
        "\\bottomrule",
        "\\end{tabular}",
        "\\par\\smallskip{\\footnotesize n\\#1\\par}",
        "\\end{table}",
        "",
    ]


def test_marked_words_are_set_off(given):
    words = (Span("a_b", "good"), Span("c", "bad"), Span("d"))
    source = latex(given([Table("", ("x",), [(words,)])]))
    assert "\\textbf{a\\_b} \\textit{c} d \\\\" in source


def test_columns_of_long_text_are_paragraphs(given):
    source = latex(given([Table("", ("n", "text"), [(1, "word " * 20)])]))
    assert "\\begin{tabular}{rp{0.70\\linewidth}}" in source


@having(words=ANY)
@settings(max_examples=50, deadline=None)
def test_every_row_is_one_line_with_as_many_cells_as_columns(given, words):
    rows = [(words, words, 1.0)] * 3
    source = latex(given([Table(words, (words, "b", "c"), rows, note=words)]))
    lines = [line for line in source.split("\n") if line.endswith(" \\\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in lines] == [2] * 4
    source.encode()


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_tables_compile(given, tmp_path):
    hostile = [string.printable, "[x", "*", "^^M \\end{table}", "±≤Δ–", "\\input{/etc/hosts}"]
    rows = [(words, (Span(words, "bad"),), -1.0) for words in hostile]
    table = Table(string.printable, ("[a", "*", "%"), rows, note=string.printable)
    body = latex(given([table, Table("", (), []), Table("none", ("a",), [])]))
    source = tmp_path / "t.tex"
    start = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    source.write_text(start + body + "\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", source.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
