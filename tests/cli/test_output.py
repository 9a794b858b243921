"""Every command in every format, to standard output and to files."""

import gzip
import json
import os
import stat
import sys
from pathlib import Path

import pytest

import assay
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


FUNCTIONS = {
    "score": lambda data: assay.score(data, ["bleu", "macrof"]),
    "intervals": lambda data: assay.score(
        data, ["bleu"], confidence=True, test="bootstrap", all_pairs=True, by_segment=True
    ),
    "favor": lambda data: assay.favor(data, count=3),
    "types": lambda data: assay.types(data, count=3),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_printing_a_result_shows_what_the_command_shows(run, capfd, name):
    shown = run(COMMANDS[name])
    assert shown.status == 0
    result = FUNCTIONS[name](assay.read(references="ref.txt", systems=["a.txt", "b.txt"]))
    capfd.readouterr()
    print(result)
    assert capfd.readouterr().out == shown.out


@pytest.mark.parametrize("ending", ["txt", "md", "csv", "tsv", "jsonl", "tex", "jsonl.gz"])
def test_saving_a_result_writes_what_the_command_writes(run, ending):
    run(f"{COMMANDS['score']} -o command.{ending}")
    data = assay.read(references="ref.txt", systems=["a.txt", "b.txt"])
    FUNCTIONS["score"](data).save(f"python.{ending}")
    assert Path(f"python.{ending}").read_bytes() == Path(f"command.{ending}").read_bytes()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_charts_are_written_beside_the_result(run, command):
    ran = run(f"{command} -q --charts figures")
    assert (ran.status, ran.err) == (0, "")
    files = sorted(Path("figures").iterdir())
    assert files
    assert [path.name[:3] for path in files] == [f"{at:02d}-" for at in range(1, len(files) + 1)]
    assert all(path.read_bytes().startswith(b"<svg") for path in files)


def test_charts_may_be_files_of_another_format(run):
    one = run("score ref.txt -i a.txt b.txt --charts fig.pdf")
    assert one.err == "wrote fig.pdf\n"
    assert Path("fig.pdf").read_bytes().startswith(b"%PDF")
    several = run("favor ref.txt -i a.txt b.txt -m macrof bleu -n 1 --charts fig.png")
    assert several.err == "wrote fig-1.png\nwrote fig-2.png\n"
    assert Path("fig-2.png").read_bytes().startswith(b"\x89PNG")


def test_charts_that_cannot_be_drawn_are_refused_before_anything_is_computed(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    message = refusal("score ref.txt -i a.txt b.txt --charts figures -o x.json")
    assert message == "Charts need: pip install 'assay-mt[report]'"


def test_commands_without_charts_have_no_such_option(refusal):
    assert "unknown argument '--charts'" in refusal("suite lint items.json --charts=figures")


def test_an_unknown_format_is_an_error_that_names_the_known_ones(refusal):
    message = refusal("score ref.txt -i a.txt -f jsn")
    assert "unknown format 'jsn' (did you mean 'json'?). Formats: text, markdown, csv" in message


@pytest.mark.parametrize(("layout", "magic"), [("xlsx", b"PK"), ("parquet", b"PAR1")])
def test_formats_that_are_no_text_go_to_files_and_pipes(run, layout, magic):
    pytest.importorskip({"xlsx": "openpyxl", "parquet": "polars"}[layout])
    assert run(f"score ref.txt -i a.txt -q -o x.{layout}").status == 0
    assert Path(f"x.{layout}").read_bytes().startswith(magic)
