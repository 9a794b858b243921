"""Bad input and bad usage: one line that teaches, status 2, and nothing written."""

import os
from pathlib import Path

import pytest

SCORE = "score ref.txt -i a.txt"
PAIR = "score ref.txt -i a.txt b.txt"
WRONG = {
    "a missing file": ("score ref.txt -i a.tx", "a.tx does not exist (did you mean 'a.txt'?)"),
    "a missing reference": ("score rfe.txt -i a.txt", "(did you mean 'ref.txt'?)"),
    "a missing folder": ("score no/ref.txt -i a.txt", "no/ref.txt does not exist, nor does its"),
    "a missing source": (f"{SCORE} -s scr.txt", "(did you mean 'src.txt'?)"),
    "a missing list of documents": (f"{SCORE} --docs doc.tsv", "(did you mean 'docs.tsv'?)"),
    "missing scores": (f"{SCORE} --scores x.seg.tsv", "x.seg.tsv does not exist"),
    "a folder as reference": ("score sub -i a.txt", "sub is a folder, and a file is needed here."),
    "a folder as system": ("score ref.txt -i sub", "sub is a folder, and a file is needed here."),
    "one system twice": ("score ref.txt -i a.txt a.txt", "a.txt is given twice as a system."),
    "one name twice": ("score ref.txt -i a.txt sub/a.txt", "both hold a system 'a'."),
    "too few names": (f"{PAIR} --names x", "1 names for 2 systems; give one for each."),
    "equal names": (f"{PAIR} --names x x", "the name 'x' is given twice"),
    "an unknown metric": (f"{SCORE} -m blue", "unknown metric 'blue' (did you mean 'bleu'?)"),
    "an unknown setting": (f"{SCORE} -m bleu:tk=13a", "no setting 'tk' (did you mean 'tok'?)"),
    "an unknown value": (f"{SCORE} -m bleu:smooth=exq", "did you mean 'exp'?"),
    "a metric that is not key=value": (f"{SCORE} -m bleu:13a", "'13a' is not key=value"),
    "an unknown tokenizer": (f"{SCORE} -tok 13b", "unknown tokenizer '13b' (did you mean '13a'?)"),
    "one metric twice": (f"{SCORE} -m bleu bleu", "metric bleu is given twice; leave one out."),
    "one metric in two words": (f"{SCORE} -m bleu bleu:tok=intl -tok intl", "is given twice"),
    "a file as metric": ("score -i a.txt -m bleu ref.txt", "ref.txt is a file, not a metric; put"),
    "an unknown option": (f"{SCORE} --paird-bs", "(did you mean '--paired-bs'?). See: assay score"),
    "a shortened option": (f"{SCORE} --conf", "unknown argument '--conf' (did you mean"),
    "an option of another command": (f"{SCORE} --count 3", "unknown argument '--count'"),
    "an unknown format": (f"{SCORE} --format pdf", "unknown format 'pdf'. Formats: "),
    "an option without its value": (f"{SCORE} -s", "-s/--source: expected one argument."),
    "no systems after -i": ("score ref.txt -i", "-i/--input: expected at least one argument."),
    "an unknown command": ("scor ref.txt", "no command 'scor' (did you mean 'score'?). Commands:"),
    "an option instead of a command": ("--quiet", "no command '--quiet'. Commands: score,"),
    "help for an unknown command": ("help scor", "no command 'scor' (did you mean 'score'?)"),
    "nothing at all": ("score", "no reference: name one before -i, or use --data or -t."),
    "no reference": ("score -i a.txt", "no reference: name one before -i"),
    "nothing to favor": ("favor", "no reference: name one before -i"),
    "no types": ("types", "no reference: name one before -i"),
    "an unknown test set": (
        "score -t wmt2l -l de-en -i a.txt",
        "no test set 'wmt2l' (did you mean",
    ),
    "a test set without its pair": ("score -t wmt21 -i a.txt", "-t needs a language pair"),
    "a test set without that pair": (
        "score -t wmt21 -l de-xx -i a.txt",
        "no language pair 'de-xx'",
    ),
    "references beside a test set": (
        "score ref.txt -t wmt21 -l de-en -i a.txt",
        "leave REF and -s",
    ),
    "references beside a folder": ("score ref.txt --data sub", "--data brings its own texts"),
    "a source beside a folder": ("score -s src.txt --data sub", "--data brings its own texts"),
    "a folder that is none": ("score --data nowhere", "nowhere is not a folder."),
    "a folder without a test set": ("score --data sub", "sub holds no test set: neither"),
    "a language that is no pair": (f"{SCORE} -l deen", "'deen' is not a language pair"),
    "a test of one system": (
        f"{SCORE} --paired-bs",
        "compares systems, at least two: name the outputs with -i.",
    ),
    "two tests": (f"{PAIR} --paired-bs --paired-ar", "not allowed with argument --paired-bs"),
    "all pairs without a test": (f"{PAIR} --all-pairs", "goes with --paired-bs or --paired-ar."),
    "documents without their ids": (f"{SCORE} --documents", "give document ids with --docs FILE."),
    "a level above 1": (
        f"{SCORE} --confidence --confidence-level 2",
        "level 2: give a share between 0 and 1",
    ),
    "a level that is not used": (
        f"{SCORE} --confidence-level 0",
        "level 0: give a share between 0 and 1",
    ),
    "a level in words": (
        f"{SCORE} --confidence-level high",
        "--confidence-level: invalid float value: 'high'.",
    ),
    "no resamples": (f"{PAIR} --paired-bs --paired-bs-n 0", "give at least 1, not 0."),
    "negative trials": (f"{PAIR} --paired-ar --paired-ar-n -5", "give at least 1, not -5."),
    "no digits at all": (f"{SCORE} -w -1", "-w/--width: give from 0 to 20, not -1."),
    "a million digits": (f"{SCORE} -w 1000000", "give from 0 to 20, not 1000000."),
    "digits in words": (f"{SCORE} -w two", "invalid whole number value: 'two'."),
    "a negative seed": (f"{SCORE} --seed -1", "--seed: give at least 0, not -1."),
    "favor with one system": ("favor ref.txt -i a.txt", "compares two systems: give at least two"),
    "favor with one segment": ("favor one.ref -i one.a one.b", "it needs at least two."),
    "no segments to show": ("favor ref.txt -i a.txt b.txt -n 0", "-n/--count: give at least 1"),
    "fewer than none": ("favor ref.txt -i a.txt b.txt -n -3", "give at least 1, not -3."),
    "no types to show": ("types ref.txt -i a.txt -n 0", "-n/--count: give at least 1, not 0."),
    "types of a metric without": ("types ref.txt -i a.txt -m bleu", "one of macrof and microf"),
    "types of two metrics": (
        "types ref.txt -i a.txt -m macrof microf",
        "types looks at one metric",
    ),
    "a demo over a file": ("demo a.txt", "a.txt: this folder cannot be made (File exists)."),
    "a demo in two places": ("demo x y", "demo: unknown argument 'y'. See: assay demo --help"),
}


@pytest.mark.parametrize(("line", "words"), WRONG.values(), ids=WRONG)
def test_one_line_teaches(refusal, line, words):
    Path("sub").mkdir()
    Path("sub/a.txt").write_text(Path("a.txt").read_text("utf-8"), "utf-8")
    for name in ("one.ref", "one.a", "one.b"):
        Path(name).write_text("x\n")
    assert words in refusal(line)


def test_unequal_line_counts_name_both_files(refusal):
    Path("short.txt").write_text("x\n" * 5)
    for line in ("score ref.txt -i short.txt", "favor ref.txt -i a.txt short.txt"):
        assert "short.txt: 5 lines, but ref.txt has 120." in refusal(line)
    assert "short.txt: 5 lines, but ref.txt has 120." in refusal(f"{SCORE} -s short.txt")
    assert "short.txt: 5 lines, but ref.txt has 120." in refusal(f"{SCORE} --docs short.txt")


def test_an_empty_file_is_told_from_empty_lines(refusal):
    Path("empty.txt").write_text("")
    assert "empty.txt is empty; it needs one line per segment." in refusal(
        "score ref.txt -i empty.txt"
    )
    assert "empty.txt is empty" in refusal("score empty.txt -i a.txt")


def test_bytes_that_are_not_utf8_are_located(refusal):
    Path("bad.txt").write_bytes(b"fine\nna\xefve\n")
    assert (
        "bad.txt, line 2, byte 3: not UTF-8 (0xef). Convert the file: iconv -f latin1"
        in refusal("score ref.txt -i bad.txt")
    )


@pytest.mark.parametrize("word", ["NaN", "nan", "inf", "-Infinity", "x"])
def test_a_score_that_is_no_number_is_located(refusal, word):
    Path("x.seg.score").write_text("a\t1\n" * 3 + f"a\t{word}\n" + "a\t1\n" * 116)
    message = refusal("score ref.txt -i a.txt --scores x.seg.score")
    assert "x.seg.score, line 4: " in message
    assert "write None for unknown." in message


def test_scores_of_other_systems_or_levels_are_refused(refusal):
    Path("x.seg.score").write_text("z\t1\n" * 120)
    assert "none of the systems a is in the file" in refusal(f"{SCORE} --scores x.seg.score")
    Path("x.sys.score").write_text("a\t1\n")
    assert "scores of segments are needed here, not of systems." in refusal(
        f"{SCORE} --scores x.sys.score"
    )
    Path("y.seg.score").write_text("a\t1\n" * 119)
    assert "system 'a' has 119 scores" in refusal(f"{SCORE} --scores y.seg.score")


def test_two_files_of_scores_of_one_name_are_refused(refusal):
    Path("sub").mkdir()
    for name in ("x.seg.score", "sub/x.seg.score"):
        Path(name).write_text("a\t1\n" * 120)
    assert "two files of scores are called 'x'; rename one." in refusal(
        f"{SCORE} --scores x.seg.score sub/x.seg.score"
    )


@pytest.mark.parametrize("command", ["score", "favor", "types"])
def test_texts_without_references_are_refused(refusal, command):
    Path("x.jsonl").write_text('{"mt": "x", "src": "y"}\n{"mt": "x", "src": "y"}\n')
    Path("y.jsonl").write_text('{"mt": "x", "src": "y"}\n{"mt": "z", "src": "y"}\n')
    assert "references" in refusal(f"{command} -i x.jsonl y.jsonl")


def test_a_table_without_systems_asks_for_them(refusal):
    Path("x.tsv").write_text("src\tref\nx\ty\n")
    assert "no system to look at: name the outputs with -i." in refusal("score x.tsv")


def test_an_unknown_system_of_a_folder_is_answered_with_the_nearest(refusal):
    Path("data/systems").mkdir(parents=True)
    Path("data/ref.txt").write_text("x\n")
    Path("data/systems/atlas.txt").write_text("x\n")
    assert "data has no system 'altas' (did you mean 'atlas'?). It has atlas." in refusal(
        "score --data data -i altas"
    )


def test_names_with_line_breaks_still_make_one_line(refusal):
    assert "does not exist" in refusal("score ref.txt -i", "no\nsuch\r\nfile")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_told(refusal):
    Path("a.txt").chmod(0)
    assert "a.txt may not be read by you" in refusal(SCORE)


def test_a_cell_of_a_megabyte_is_cut_in_the_message(refusal):
    cell = "x" * 10**6
    Path("x.seg.tsv").write_text(f"system\tline\tz\n{cell}\t1\t1\n")
    message = refusal(f"{SCORE} --scores x.seg.tsv")
    assert message.startswith("x.seg.tsv: none of the systems a is in the file")
    Path("y.tsv").write_text(f"{cell}\t{cell}\n1\t2\n")
    message = refusal("score y.tsv -i a.txt")
    assert message.startswith("y.tsv")
    assert len(message) < 1100


@pytest.mark.parametrize("place", ["no/such/x.json", "sub"])
def test_a_place_that_is_not_there_is_told_before_anything_is_computed(refusal, place, monkeypatch):
    Path("sub").mkdir()
    monkeypatch.setattr("assay.cli.score.score", None)
    assert place in refusal(f"{SCORE} -o {place}")
