"""`assay mbr`: the layouts of N-best lists, what is picked, and what is wrong with a file."""

import json
from pathlib import Path

import pytest

import assay

LISTS = [["a cat sat", "the cat sat", "the cat"], ["one", "one two"], ["x"]]
WEIGHTS = [[0, 0, 5], [1, 0], [2]]
BEST = [*assay.mbr(LISTS).lines]


def moses():
    return "".join(
        f"{at} ||| {text} ||| LM= -1.5 ||| -3\n" for at, texts in enumerate(LISTS) for text in texts
    )


def table(weights=None):
    rows = (
        [f"s{at}", text, *([str(weights[at][place])] if weights else [])]
        for at, texts in enumerate(LISTS)
        for place, text in enumerate(texts)
    )
    return "".join("\t".join(row) + "\n" for row in rows)


def paragraphs():
    return "\n".join("".join(f"{text}\n" for text in texts) for texts in LISTS)


@pytest.mark.parametrize(
    "text",
    [moses(), table(), "segment\tcandidate\n" + table(), paragraphs(), paragraphs() + "\n"],
    ids=["moses", "table", "header", "paragraphs", "a blank line at the end"],
)
def test_every_layout_is_read(run, text):
    Path("list.txt").write_text(text)
    done = run("mbr list.txt")
    assert (done.status, done.out.splitlines(), done.err) == (0, BEST, "")


def test_a_candidate_ends_before_its_scores_and_keeps_its_blanks(run):
    blanks = " " * 500_000
    Path("list.txt").write_text(f"0 ||| \ta{blanks}b  ||| -1 ||| x\n1 |||{blanks}|| c{blanks}\n")
    done = run("mbr list.txt")
    assert done.out.splitlines() == [f"\ta{blanks}b", f"{blanks[1:]}|| c"]


def test_weights_of_a_table_count(run):
    Path("list.tsv").write_text(table(WEIGHTS))
    done = run("mbr list.tsv")
    assert done.out.splitlines() == list(assay.mbr(LISTS, weights=WEIGHTS).lines) != BEST


def test_lines_per_segment_and_files_per_system_are_the_same(run):
    systems = [Path(f"{name}.txt").read_text("utf-8").splitlines() for name in "abc"]
    together = "".join(f"{line}\n" for lines in zip(*systems, strict=True) for line in lines)
    Path("samples.txt").write_text(together, "utf-8")
    wanted = list(assay.mbr(list(map(list, zip(*systems, strict=True))), metric="bleu").lines)
    assert run("mbr a.txt b.txt c.txt -m bleu").out.splitlines() == wanted
    assert run("mbr samples.txt -n 3 -m bleu").out.splitlines() == wanted
    assert run("mbr a.txt b.txt c.txt --refs samples.txt -n 3 -m bleu").out.splitlines() == wanted


def test_records_tell_which_candidate_and_why(run):
    Path("list.txt").write_text(moses())
    records = json.loads(run("mbr list.txt -m chrf --format json").out)["records"]
    assert records == json.loads(json.dumps(assay.mbr(LISTS).records()))
    assert [record["text"] for record in records] == BEST
    assert run("mbr list.txt -m ter -o best.md").err == "wrote best.md\n"
    assert "| segment | picked |" in " ".join(Path("best.md").read_text().split())


BAD = {
    "plain\nlines\n": "bad.txt: cannot tell which candidates are for which segment",
    "0 ||| a\nx ||| b\n": "bad.txt, line 2: write the segment's number first",
    "0 ||| a\n1 ||| b\n0 ||| c\n": "bad.txt, line 3: segment '0' comes back after another one",
    "s\ta\t1\ns\tb\n": "bad.txt, line 2: 2 columns",
    "s\ta\tmany\n": "bad.txt, line 1: the weight 'many' is not a number of at least 0",
    "s\ta\t-1\n": "bad.txt, line 1: the weight '-1' is not a number of at least 0",
    "segment\tcandidate\n": "bad.txt has no candidates below its header",
    "a\n\n\nb\n": "bad.txt, line 3: a blank line without candidates before it",
    "": "bad.txt is empty",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=BAD.values())
def test_a_bad_list_is_one_line_that_says_where_and_what_to_do(run, text, message):
    Path("bad.txt").write_text(text)
    done = run("mbr bad.txt")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"assay: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mbr a.txt short.txt", "short.txt: 1 lines, but a.txt has 120"),
        ("mbr a.txt -n 7", "a.txt: 120 lines are not a multiple of 7"),
        ("mbr a.txt b.txt -n 2", "a number of lines per segment is for one file"),
        ("mbr a.txt b.txt -m bleu chrf", "mbr needs one metric"),
        ("mbr a.txt b.txt --refs short.txt -n 1", "hypotheses for 120 segments, but references"),
        ("mbr a.txt b.txt -s short.txt", "there are 120 segments: give a source for each"),
        ("mbr a.txt b.txt -o a.txt", "-o a.txt is one of the inputs"),
    ],
)
def test_files_that_do_not_go_together(run, line, message):
    Path("short.txt").write_text("one\n")
    done = run(line)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
