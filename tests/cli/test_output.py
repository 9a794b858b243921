"""Every command in every format, to standard output and to files."""

import gzip
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from assay.rendering import FORMATS as ALL_FORMATS

FORMATS = [name for name in ALL_FORMATS.names() if not ALL_FORMATS.get(name).binary]
COMMANDS = {
    "score": "score ref.txt -i a.txt b.txt -m bleu macrof",
    "intervals": "score ref.txt -i a.txt b.txt --confidence --paired-bs --all-pairs -sl",
    "favor": "favor ref.txt -i a.txt b.txt -n 3",
    "types": "types ref.txt -i a.txt b.txt -n 3",
}
BEGINNINGS = {
    "text": ("Scores\n", "Which side", "The 3 most"),
    "markdown": ("### Scores\n", "### Which side", "### The 3 most"),
    "json": ('{"assay": ',),
    "jsonl": ('{"system": ', '{"segment": '),
    "csv": ("system,", "segment,"),
    "tsv": ("system\t", "segment\t"),
    "latex": ("% Needs \\usepackage{booktabs}",),
    "html": ("<!doctype html>\n",),
}


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_holds_what_standard_output_shows(run, command, layout):
    shown = run(f"{command} -f {layout}")
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.startswith(BEGINNINGS[layout])
    again = run(f"{command} -o out.file -f {layout}")
    assert (again.status, again.out, again.err) == (0, "", "wrote out.file\n")
    written = Path("out.file").read_bytes().decode()
    # The command line is part of what json and html tell.
    assert written.replace("-o out.file ", "") == shown.out
    assert run(f"{command} -o out.file -f {layout} -q").err == ""


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("x.json", "{"),
        ("x.JSON", "{"),
        ("x.tsv", "system\tmetric\t"),
        ("x.csv", "system,metric,"),
        ("x.jsonl", '{"system": "a", '),
        ("x.md", "### Scores\n"),
        ("x.tex", "% Needs \\usepackage{booktabs}"),
        ("x.html", "<!doctype html>"),
        ("x.htm", "<!doctype html>"),
        ("x.txt", "Scores\n"),
        ("x", "Scores\n"),
    ],
)
def test_the_name_of_the_file_chooses_the_format(run, name, beginning):
    assert run(f"score ref.txt -i a.txt -q -o {name}").status == 0
    assert Path(name).read_text("utf-8").startswith(beginning)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_unknown_ending_is_an_error_that_names_the_known_ones(refusal, command):
    message = refusal(f"{command} -o x.jsn")
    assert "-o x.jsn: no format has the ending .jsn (did you mean '.json'?). Known are" in message
    assert (
        ".txt, .md, .csv, .tsv, .json, .jsonl, .tex, .html, .htm, .xlsx, .parquet; or name the"
        in message
    )


def test_nothing_is_cleared_for_a_name_that_cannot_be_written(refusal):
    assert "no format has the ending .foo" in refusal("cache clear -o x.foo")


@pytest.mark.parametrize("option", ["-o x.csv", "-f json", "-o x.html"])
def test_bare_scores_are_text(refusal, option):
    assert "-b prints bare scores as text" in refusal(f"score ref.txt -i a.txt -b {option}")


def test_a_page_without_charts_says_in_the_terminal_how_to_get_them(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    hint = "note: the page is without its charts. Charts need: pip install 'assay-mt[report]'\n"
    assert run("score ref.txt -i a.txt b.txt -o x.html").err == f"wrote x.html\nassay: {hint}"
    assert run("score ref.txt -i a.txt b.txt -o x.html -q").err == ""
    assert run("score ref.txt -i a.txt b.txt -o x.md").err == "wrote x.md\n"


def test_a_name_in_gz_is_packed_in_the_format_of_the_name_before_it(run):
    run("score ref.txt -i a.txt -o x.json.gz")
    assert json.loads(gzip.decompress(Path("x.json.gz").read_bytes()))["records"]


def test_the_format_asked_for_wins_over_the_name(run):
    run("score ref.txt -i a.txt -o x.json --format tsv")
    assert Path("x.json").read_text().startswith("system\tmetric\t")


def test_a_dash_is_standard_output(run):
    ran = run("score ref.txt -i a.txt -o - -b")
    assert (ran.out, ran.err) == ("37.61\n", "")


def test_a_file_is_replaced_and_keeps_its_permissions(run):
    Path("x.txt").write_text("old")
    Path("x.txt").chmod(0o640)
    run("score ref.txt -i a.txt -o x.txt -b")
    assert Path("x.txt").read_text() == "37.61\n"
    assert stat.S_IMODE(Path("x.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_missing_folder_is_not_made(refusal, command):
    message = refusal(f"{command} -o missing/x.json")
    assert "the folder missing does not exist; make it: mkdir -p missing" in message


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("name", ["a.txt", "./ref.txt", "link.txt"])
def test_an_input_is_never_written_over(refusal, command, name):
    Path("link.txt").symlink_to("b.txt")
    assert f"-o {name} is one of the inputs; name another file." in refusal(f"{command} -o {name}")


def test_neither_are_source_documents_and_scores(refusal):
    Path("x.seg.score").write_text("a\t1\n" * 120)
    line = "score ref.txt -i a.txt -s src.txt --docs docs.tsv --scores x.seg.score -o"
    for name in ("src.txt", "docs.tsv", "x.seg.score"):
        assert "is one of the inputs" in refusal(f"{line} {name}")


def test_a_folder_is_not_a_file_to_write(refusal):
    Path("folder").mkdir()
    assert "folder is a folder; name a file inside it." in refusal(
        "score ref.txt -i a.txt -o folder"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_unwritable_folder_is_told(refusal):
    Path("locked").mkdir(mode=0o555)
    assert "you may not write in locked" in refusal("score ref.txt -i a.txt -o locked/x.txt")


def test_a_file_where_a_folder_should_be_is_told(refusal):
    assert "a.txt/x.txt" in refusal("score ref.txt -i a.txt b.txt -o a.txt/x.txt")
