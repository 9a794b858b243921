"""LaTeX: every special character escaped, and tables that compile."""

import re
import shutil
import string
import subprocess

import pytest
from hypothesis import example, settings
from hypothesis import given as having
from hypothesis import strategies as st

from assay.rendering.latex import escape, latex
from assay.rendering.text import visible
from assay.results import Cell, Column, Result, Span, Table

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
    table = Table("50 %", ("system", Column("x_1", direction="high"), "y"), rows, note="n#1")
    assert latex(given([table]), digits=1).split("\n") == [
        "% Needs \\usepackage{booktabs}",
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


def test_degrees_are_boxes_of_colour_and_a_comment_tells_what_they_need(given):
    words = (Span("a_b", "good-1"), Span("c", "bad-4"), Span("d"))
    lines = latex(given([Table("", ("x",), [(words,)])])).split("\n")
    assert "\\colorbox{green!15}{a\\_b} \\colorbox{red!60}{c} d \\\\" in lines
    assert "% Needs \\usepackage{booktabs}\\usepackage[table]{xcolor}" in lines
    assert "\\setlength{\\fboxsep}{1.5pt}" in lines


def test_columns_of_long_text_are_paragraphs(given):
    source = latex(given([Table("", ("n", "text"), [(1, "word " * 20)])]))
    assert "\\begin{tabular}{rp{0.70\\linewidth}}" in source


def test_strong_cells_are_bold_and_shaded_rows_grey(given):
    rows = [("a_b", 1.5), ("c", -2.0), ("d", 3.0)]
    strong, shaded = frozenset({(0, 0), (1, 1)}), frozenset({1})
    source = latex(given([Table("T", ("x", "y"), rows, strong=strong, shaded=shaded)]), digits=1)
    lines = source.split("\n")
    assert lines[0] == "% Needs \\usepackage{booktabs}\\usepackage[table]{xcolor}"
    assert lines[8:11] == [
        "\\textbf{a\\_b} & 1.5 \\\\",
        "\\rowcolor{gray!20} c & \\textbf{$-$2.0} \\\\",
        "d & 3.0 \\\\",
    ]


def test_a_cell_that_is_best_and_strong_is_bold_once(given):
    rows = [("a", 1.0), ("b", 2.0)]
    table = Table("T", ("x", Column("y", direction="high")), rows, strong=frozenset({(1, 1)}))
    assert "b & \\textbf{2.00} \\\\" in latex(given([table]))


def many_columns(rows=2, columns=12):
    names = tuple(f"a rather long name {at}" for at in range(columns))
    return Table("T", ("k", *names), [(f"row {at}", *[99.5] * columns) for at in range(rows)])


def test_a_wide_table_is_as_wide_as_the_text_and_its_headings_stand_upright(given):
    source = latex(given([many_columns()]), digits=1)
    assert source.startswith("% Needs \\usepackage{booktabs}\\usepackage{graphicx}\n")
    assert "\\resizebox{\\linewidth}{!}{%\n\\begin{tabular}" in source
    assert "\\end{tabular}}\n" in source
    assert "k & \\rotatebox{90}{a rather long name 0} & " in source
    few = latex(given([many_columns(columns=2)]))
    assert "resizebox" not in few
    assert "rotatebox" not in few


@pytest.mark.parametrize(("rows", "sizes"), [(55, [55]), (56, [55, 1]), (120, [55, 55, 10])])
def test_a_tall_table_goes_on_in_another(given, rows, sizes):
    table = Table("T", ("k", "n"), [(f"row {at}", at) for at in range(rows)], note="a note")
    floats = latex(given([table])).split("\\end{table}\n")[:-1]
    assert [part.count("\nrow ") for part in floats] == sizes
    captions = [re.search(r"\\caption\{(.*)\}", part)[1] for part in floats]
    assert captions == ["T", *["T (continued)"] * (len(sizes) - 1)]
    assert [("a note" in part) for part in floats] == [*[False] * (len(sizes) - 1), True]


def test_a_shaded_row_begins_a_float_rather_than_ends_one(given):
    rows = [(f"row {at}", at) for at in range(100)]
    source = latex(given([Table("T", ("k", "n"), rows, shaded=frozenset({0, 10, 50}))]))
    first, second = source.split("\\end{table}\n")[:2]
    assert (first.count("\nrow ") + first.count("} row "), "row 49 &" in first) == (50, True)
    assert "\\midrule\n\\rowcolor{gray!20} row 50 &" in second


@having(words=ANY)
@settings(max_examples=50, deadline=None)
def test_every_row_is_one_line_with_as_many_cells_as_columns(given, words):
    rows = [(words, words, 1.0)] * 3
    source = latex(given([Table(words, (words, "b", "c"), rows, note=words)]))
    lines = [line for line in source.split("\n") if line.endswith(" \\\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in lines] == [2] * 4
    source.encode()


def scores(systems=2, **details):
    """A table of scores as `assay score --confidence --paired-bs` makes it."""
    columns = ("metric", *(Column(f"s{at}", direction="high") for at in range(systems)))
    cells = [Cell(30.456 + at, 29.1 + at, 31.9 + at, p=0.01 * 9**at) for at in range(systems)]
    return Table("T", columns, [("BLEU", *cells), ("chrF", *cells)], "the note", **details)


def rows_of(source):
    return [line for line in source.split("\n") if line.endswith(" \\\\")][1:]


def test_scores_have_their_intervals_and_stars(given):
    source = latex(given([scores(details="In brackets: 95%.")]), digits=1)
    first = "30.5\\textsuperscript{{*}} {\\scriptsize {[}29.1, 31.9{]}}"
    second = "31.5 {\\scriptsize {[}30.1, 32.9{]}}"
    assert rows_of(source) == [f"{name} & {first} & {second} \\\\" for name in ("BLEU", "chrF")]
    assert "{\\footnotesize {*} p \\textless{} 0.05. In brackets: 95\\%. the note" in source


def test_stars_that_nothing_explains_are_left_out(given):
    source = latex(given([scores()]), digits=1)
    assert "textsuperscript" not in source
    assert "footnotesize the note" in source


def test_intervals_of_many_columns_are_left_out(given):
    many = latex(given([scores(systems=5, details="why")]))
    assert "scriptsize" not in many
    assert "textsuperscript{{*}}" in many
    assert "scriptsize" in latex(given([scores(systems=4, details="why")]))


def test_the_mark_of_a_number_is_set_high_and_only_the_number_is_bold(given):
    cells = [(Cell(0.5, mark="×"),), (Cell(-0.4, approximate=True),)]
    table = Table("T", (Column("r", digits=2),), cells, strong=frozenset({(0, 0)}))
    assert rows_of(latex(given([table]))) == [
        "\\textbf{0.50}\\textsuperscript{\\ensuremath{\\times}} \\\\",
        "\\textasciitilde{}-0.40 \\\\",
    ]


def test_what_is_not_for_papers_is_left_out(given):
    columns = ("system", Column("r"), Column("p r", style="p", paper=False))
    source = latex(given([Table("T", columns, [("a", 0.5, 0.01)])]))
    assert rows_of(source) == ["a & 0.50 \\\\"]
    assert "p r" not in source


def test_a_result_gives_the_table_that_a_paper_prints():
    class Several(Result):
        def tables(self):
            return [Table("first", ("a",), [("x",)]), Table("second", ("a",), [("y",)])]

        def records(self):
            return []

    source = latex(Several())
    assert source.count("\\begin{table}") == 1
    assert "\\caption{first}" in source


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_the_tables_compile(given, tmp_path):
    hostile = [string.printable, "[x", "*", "^^M \\end{table}", "±≤Δ–", "\\input{/etc/hosts}"]
    rows = [(words, (Span(words, "bad"),), -1.0) for words in hostile]
    table = Table(string.printable, ("[a", "*", "%"), rows, note=string.printable)
    strong = frozenset((row, column) for row in range(6) for column in range(3))
    shaded = Table("grey", ("[a", "*", "%"), rows, strong=strong, shaded=frozenset({0, 2, 5}))
    boxes = tuple(Span(words, mark) for words in hostile for mark in ("good-2", "bad-3"))
    colored = Table("colour", ("a", "b"), [((Span("x", "bad-1"),), boxes)])
    tables = [
        colored,
        table,
        Table("", (), []),
        Table("none", ("a",), []),
        shaded,
        many_columns(rows=70),
        scores(details="why ~ %"),
    ]
    body = latex(given(tables))
    source = tmp_path / "t.tex"
    needed = re.findall(r"\\usepackage\S*?\}", "\n".join(re.findall("^% Needs .*", body, re.M)))
    packages = "".join(dict.fromkeys(needed))
    assert packages.count("usepackage") == 3
    start = f"\\documentclass{{article}}{packages}\\begin{{document}}\n"
    source.write_text(start + body + "\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", source.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
