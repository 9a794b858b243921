"""`assay favor` and `assay types` on the command line."""

import json
from collections import Counter
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def rows(ran):
    assert (ran.status, ran.err) == (0, "")
    head, *lines = ran.out.splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]


def lines(name):
    return Path(name).read_text("utf-8").splitlines()


def without(sequence, at):
    return [*sequence[:at], *sequence[at + 1 :]]


def test_favoritism_is_that_of_scoring_without_each_segment(run):
    found = records(run("favor ref.txt -i a.txt b.txt -m macrof bleu -n 10 --format json"))
    assert [each["metric"] for each in found] == ["macrof"] * 120 + ["bleu"] * 120
    assert [each["resolved"] for each in found] == [each["metric"] for each in found]
    reference, theirs = lines("ref.txt"), BLEU()

    def benefit(outputs, at):
        whole = theirs.corpus_score(outputs, [reference]).score
        rest = theirs.corpus_score(without(outputs, at), [without(reference, at)]).score
        return whole - rest

    for each in found[120:130]:
        assert list(each) == [
            "segment",
            "metric",
            "resolved",
            "system",
            "other",
            "favoritism",
            "benefit",
            "benefit_other",
        ]
        assert (each["system"], each["other"]) == ("a", "b")
        at = each["segment"] - 1
        first, second = benefit(lines("a.txt"), at), benefit(lines("b.txt"), at)
        assert each["benefit"] == pytest.approx(first, abs=1e-9)
        assert each["benefit_other"] == pytest.approx(second, abs=1e-9)
        assert each["favoritism"] == pytest.approx(first - second, abs=1e-9)
    sizes = [abs(each["favoritism"]) for each in found[120:]]
    assert sizes == sorted(sizes, reverse=True)


def test_the_documentation_tells_the_truth_about_favoritism(run):
    found = records(run("favor ref.txt -i a.txt b.txt -m macrof bleu --format json"))
    value = {(each["metric"], each["segment"]): each["favoritism"] for each in found}
    assert [each["segment"] for each in found[:2]] == [34, 49]
    assert value["macrof", 34] == pytest.approx(0.549, abs=5e-4)
    assert value["macrof", 49] == pytest.approx(-0.547, abs=5e-4)
    assert value["macrof", 111] == pytest.approx(0.181, abs=5e-4)
    assert value["bleu", 111] == pytest.approx(-0.457, abs=5e-4)
    assert value["macrof", 89] == pytest.approx(-0.429, abs=5e-4)


def test_the_texts_are_shown_with_their_source(run):
    ran = run("favor ref.txt -i a.txt b.txt -s src.txt -n 1 -m macrof")
    assert ran.status == 0
    assert "MacroF1: a or b?" in ran.out
    assert "source     Aufgeflogen war der Schwindel erst" in ran.out
    assert "{+Phillips screw.+}" in ran.out
    assert "[-woman discovered-]" in ran.out


def test_the_first_system_is_compared_with_each_other_one(run):
    found = records(run("favor ref.txt -i a.txt b.txt c.txt -m ter -n 3 --format json"))
    assert [(each["system"], each["other"]) for each in found] == [("a", "b")] * 120 + [
        ("a", "c")
    ] * 120


def test_several_references_are_told_from_one(run):
    one = run("favor ref.A.txt -i a.txt b.txt -n 1").out
    assert "not in the reference." in " ".join(one.split())
    two = run("favor ref.A.txt ref.B.txt -i a.txt b.txt -n 1").out
    assert "not in the first reference." in " ".join(two.split())


def test_types_are_counted_as_a_slow_counter_does(run):
    found = rows(run("types ref.txt -i a.txt b.txt --format tsv"))
    assert list(found[0]) == [
        "system",
        "type",
        "rank",
        "refs",
        "preds",
        "match",
        "precision",
        "recall",
        "f",
    ]
    split = Tokenizer13a()
    for system in "ab":
        wanted, predicted, matched = Counter(), Counter(), Counter()
        for output, reference in zip(lines(f"{system}.txt"), lines("ref.txt"), strict=True):
            mine, goal = Counter(split(output).split()), Counter(split(reference).split())
            predicted += mine
            wanted += goal
            matched += mine & goal
        chosen = {each["type"]: each for each in found if each["system"] == system}
        assert set(chosen) == {*wanted, *predicted}
        for name, each in chosen.items():
            counts = [int(each[key]) for key in ("refs", "preds", "match")]
            assert counts == [wanted[name], predicted[name], matched[name]]
            total = wanted[name] + predicted[name]
            assert float(each["f"]) == pytest.approx(200 * matched[name] / total)


def test_types_are_shown_for_people(run):
    out = run("types ref.txt -i a.txt b.txt -n 3").out
    assert "The 3 most frequent types" in out
    assert "Types by frequency" in out
    assert "Types that differ most: a and b" in out


def test_types_can_be_pairs_of_words(run):
    found = records(run("types ref.txt -i a.txt -m macrof:min_order=2,max_order=2 -f json"))
    assert all(len(each["type"].split(" ")) == 2 for each in found)


@pytest.mark.parametrize("command", ["favor", "types"])
def test_little_text_is_no_reason_to_stumble(run, command):
    for text in ("\n\n\n", "x\nx\nx\n", " \n.\n\n"):
        Path("r").write_text("x\ny\nz\n" if text.startswith("x") else text)
        Path("one").write_text(text)
        Path("two").write_text("\n\n\n")
        for layout in ("text", "json", "tsv", "latex", "html"):
            ran = run(f"{command} r -i one two -f {layout}")
            assert (ran.status, ran.err) == (0, "")
