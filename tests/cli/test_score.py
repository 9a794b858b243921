"""`assay score`: the figures are sacreBLEU's, and every option does what it says."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

import assay
from assay.data import Dataset
from assay.io import write_folder, write_jsonl, write_tsv
from assay.version import __version__
from tests.corpora import DEMO, demo

KEYS = ["system", "metric", "resolved", "signature", "score"]


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def scores(ran):
    return {(each["system"], each["metric"]): each["score"] for each in records(ran)}


def lines(name):
    return Path(name).read_text("utf-8").splitlines()


def test_two_references_and_five_metrics_give_the_figures_of_sacrebleu(run):
    ran = run(
        "score ref.A.txt ref.B.txt -i a.txt b.txt -m bleu chrf ter macrof microf --format json"
    )
    found = scores(ran)
    assert list(found) == [
        (system, metric)
        for metric in ("bleu", "chrf", "ter", "macrof", "microf")
        for system in "ab"
    ]
    references = [lines("ref.A.txt"), lines("ref.B.txt")]
    for name, theirs in {"bleu": BLEU(), "chrf": CHRF(), "ter": TER()}.items():
        for system in "ab":
            wanted = theirs.corpus_score(lines(f"{system}.txt"), references).score
            assert found[system, name] == pytest.approx(wanted, abs=1e-9)


def test_the_python_call_gives_the_same_records(run):
    ran = run("score ref.A.txt ref.B.txt -i a.txt b.txt -m bleu ter macrof -f json --paired-bs -sl")
    result = assay.score(
        {"a": lines("a.txt"), "b": lines("b.txt")},
        [lines("ref.A.txt"), lines("ref.B.txt")],
        ["bleu", "ter", "macrof"],
        by_segment=True,
        test="bootstrap",
    )
    assert records(ran) == result.records()


def test_json_tells_how_it_came_about(run):
    ran = run("score ref.txt -i a.txt -s src.txt --docs docs.tsv --seed 7 -f json")
    found = json.loads(ran.out)
    assert list(found) == ["assay", "command", "seed", "inputs", "records"]
    assert found["assay"] == __version__
    assert found["command"] == (
        "assay score ref.txt -i a.txt -s src.txt --docs docs.tsv --seed 7 -f json"
    )
    assert found["seed"] == 7
    assert found["inputs"] == [
        {"path": name, "sha256": hashlib.sha256(Path(name).read_bytes()).hexdigest(), "segments": n}
        for name, n in (("ref.txt", 120), ("a.txt", 120), ("src.txt", 120), ("docs.tsv", 120))
    ]
    assert [list(each) for each in found["records"]] == [KEYS]
    assert found["records"][0]["signature"] == (
        f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:assay-{__version__}"
    )


TESTED = [
    *("baseline", "difference", "difference_low", "difference_high"),
    *("p", "p_holm", "test", "effect"),
]


@pytest.mark.parametrize(
    ("options", "extra"),
    [
        ("", []),
        ("--confidence", ["low", "high"]),
        ("--paired-bs", TESTED),
        ("-sl", ["segment"]),
        ("--documents --docs docs.tsv", ["document", "n"]),
    ],
)
def test_records_have_the_keys_that_were_asked_for(run, options, extra):
    ran = run(f"score ref.txt -i a.txt b.txt --format json {options}")
    assert [list(each) for each in records(ran)] == [KEYS + extra] * len(records(ran))


def test_standard_input_is_the_system_where_there_is_no_other(spawn, here):
    text = Path("a.txt").read_bytes()
    ran = spawn("score ref.txt -f json", given=text)
    assert scores(ran) == {("stdin", "bleu"): pytest.approx(37.612763, abs=1e-6)}
    inputs = json.loads(ran.out)["inputs"]
    assert inputs[1]["path"] == "-"
    assert inputs[1]["sha256"] == hashlib.sha256(text).hexdigest()
    assert spawn("score ref.txt -i -", given=text).out == spawn("score ref.txt", given=text).out
    assert spawn("score - -i a.txt -b", given=Path("ref.txt").read_bytes()).out == "37.61\n"


def test_every_pair_is_tested_and_clustered(run):
    options = "--paired-bs --all-pairs --confidence"
    found = records(run(f"score ref.txt -i a.txt b.txt c.txt -m bleu chrf -f json {options}"))
    bleu = [each for each in found if each["metric"] == "bleu"]
    assert [(each["system"], each["cluster"], each["baseline"]) for each in bleu] == [
        ("a", 1, None),
        ("b", 1, None),
        ("c", 2, None),
        ("a", None, "b"),
        ("a", None, "c"),
        ("b", None, "c"),
    ]
    for system in bleu[:3]:
        assert system["low"] < system["score"] < system["high"]
    for pair in bleu[3:]:
        assert 0 < pair["p"] <= pair["p_holm"] <= 1


def test_sacrebleu_s_own_p_values_can_be_had(run):
    from sacrebleu.significance import PairedTest

    named = [(name, lines(f"{name}.txt")) for name in "ab"]
    theirs = PairedTest(named, {"BLEU": BLEU()}, [lines("ref.txt")], test_type="bs", n_samples=500)
    wanted = theirs()[1]["BLEU"][1].p_value
    options = "--paired-bs --bs-statistic sacrebleu --paired-bs-n 500"
    found = records(run(f"score ref.txt -i a.txt b.txt -f json {options}"))
    assert [each["p"] for each in found] == [None, pytest.approx(wanted, abs=1e-9)]


def test_one_seed_gives_one_output_and_another_seed_another_p(run):
    line = "score ref.txt -i a.txt b.txt -m bleu macrof --paired-ar --confidence -f json"
    first = run(f"{line} --paired-ar-n 200")
    assert run(f"{line} --paired-ar-n 200").out == first.out
    other = run(f"{line} --paired-ar-n 200 --seed 1")
    assert [each["score"] for each in records(other)] == [each["score"] for each in records(first)]
    assert [each["p"] for each in records(other)] != [each["p"] for each in records(first)]


def test_documents_are_scored_by_their_own_lines(run):
    options = "--docs docs.tsv --documents -m bleu ter macrof -f json"
    found = {
        (each["system"], each["metric"], each["document"]): each["score"]
        for each in records(run(f"score ref.txt -i a.txt b.txt {options}"))
    }
    documents = [line.split("\t")[1] for line in lines("docs.tsv")[1:]]
    for document in dict.fromkeys(documents):
        chosen = [at for at, name in enumerate(documents) if name == document]
        for name in ("ref", "a", "b"):
            Path(f"{name}.part").write_text("".join(lines(f"{name}.txt")[i] + "\n" for i in chosen))
        alone = scores(run("score ref.part -i a.part b.part -q -m bleu ter macrof -f json"))
        for (system, metric), score in alone.items():
            key = (system.removesuffix(".part"), metric, document)
            assert found[key] == pytest.approx(score, abs=1e-9)
    assert len(found) == 2 * 3 * (1 + len(set(documents)))


def test_segments_are_scored_as_sacrebleu_scores_sentences(run):
    options = "-m bleu:effective_order=yes -sl -f json"
    found = [each for each in records(run(f"score ref.txt -i a.txt {options}")) if each["segment"]]
    assert [each["segment"] for each in found] == list(range(1, 121))
    theirs = BLEU(effective_order=True)
    for each, line, reference in zip(found, lines("a.txt"), lines("ref.txt"), strict=True):
        wanted = theirs.sentence_score(line, [reference]).score
        assert each["score"] == pytest.approx(wanted, abs=1e-9)


def test_segments_have_sacrebleus_figures_without_being_asked_and_the_corpus_its_own(run):
    Path("short.ref").write_text("yes\nhello big world\n" * 20)
    Path("short.sys").write_text("yes\nhello world\n" * 20)
    command = [sys.executable, "-m", "sacrebleu", "short.ref", "-i", "short.sys", "-sl", "-b"]
    theirs = subprocess.run([*command, "-w", "4"], capture_output=True, text=True, check=True)
    ours = run("score short.ref -i short.sys -sl -b -w 4")
    assert (ours.out, ours.err) == (theirs.stdout, "")
    corpus, *segments = records(run("score short.ref -i short.sys -sl -f json"))
    assert (corpus["resolved"], "|eff:no|" in corpus["signature"]) == ("bleu", True)
    assert {(each["metric"], each["resolved"]) for each in segments} == {
        ("bleu", "bleu:effective_order=yes")
    }
    assert all("|eff:yes|" in each["signature"] for each in segments)
    shown = run("score short.ref -i short.sys -sl").out
    assert shown.rstrip().endswith(segments[0]["signature"])


def test_who_says_no_to_effective_order_gets_the_zeros_and_a_note(run):
    Path("short.ref").write_text("yes\nhello big world\n" * 20)
    ran = run("score short.ref -i short.ref -sl -f json -m bleu:effective_order=no")
    found = json.loads(ran.out)["records"]
    assert {(each["score"], each["resolved"]) for each in found} == {(0, "bleu")}
    assert ran.err == (
        "assay: note: BLEU without effective order: segments of fewer than 4 words score 0, which "
        "no smoothing mends. effective_order=yes mends it.\n"
    )


def test_tokenized_text_is_told_only_where_it_lowers_a_score(run):
    for name in ("a.txt", "ref.txt"):
        Path(name).write_text("".join(f"{line[:-1]} .\n" for line in lines(name)), "utf-8")
    assert "forgot to detokenize?" in run("score ref.txt -i a.txt -m rouge1 bleu").err
    assert run("score ref.txt -i a.txt -m rouge1 rougeL chrf").err == ""


def test_bare_scores_are_one_line_a_system_or_one_a_segment(run):
    assert run("score ref.txt -i a.txt b.txt -m bleu ter -b").out == "37.61 50.25\n40.91 44.90\n"
    assert run("score ref.txt -i a.txt b.txt -b -w 4").out == "37.6128\n40.9078\n"
    assert run("score ref.txt -i a.txt -b -w 0").out == "38\n"
    ran = run("score ref.txt -i a.txt b.txt -m ter -b -sl")
    assert len(ran.out.splitlines()) == 240
    assert run("score ref.txt -i a.txt -b -q -o bare.txt").out == ""
    assert Path("bare.txt").read_text() == "37.61\n"


def test_digits_are_for_people_and_records_keep_all(run):
    assert "37.6128 " not in run("score ref.txt -i a.txt").out
    assert "  37.6128\n" in run("score ref.txt -i a.txt -w 4").out
    full = repr(BLEU().corpus_score(lines("a.txt"), [lines("ref.txt")]).score)[:14]
    assert full in run("score ref.txt -i a.txt -w 1 -f tsv").out
    assert full in run("score ref.txt -i a.txt -w 1 -f json").out


def test_shared_options_reach_every_metric_that_does_not_say_otherwise(run):
    ran = run("score ref.txt -i a.txt -m bleu bleu:tok=13a macrof chrf ter -tok intl -lc -f json")
    asked = ["bleu", "bleu:tok=13a", "macrof", "chrf", "ter"]
    assert [each["metric"] for each in records(ran)] == asked
    assert [each["resolved"] for each in records(ran)] == [
        "bleu:lowercase=yes,tok=intl",
        "bleu:lowercase=yes",
        "macrof:lowercase=yes,tok=intl",
        "chrf:lowercase=yes",
        "ter",
    ]
    wanted = BLEU(lowercase=True, tokenize="intl").corpus_score(lines("a.txt"), [lines("ref.txt")])
    assert records(ran)[0]["score"] == pytest.approx(wanted.score, abs=1e-9)
    ran = run("score ref.txt -i a.txt -m bleu:lowercase=no -lc -f json")
    assert records(ran)[0]["resolved"] == "bleu"


def test_the_target_language_chooses_the_tokenizer(run, here):
    Path("zh.ref").write_text("我们去了北京。\n今天天气很好。\n", "utf-8")
    Path("zh.sys").write_text("我们去北京了。\n今天天气好。\n", "utf-8")
    ran = run("score zh.ref -i zh.sys -l en-zh -q -f json -m bleu bleu:tok=none")
    assert [each["metric"] for each in records(ran)] == ["bleu", "bleu:tok=none"]
    assert [each["resolved"] for each in records(ran)] == ["bleu:tok=zh", "bleu:tok=none"]
    wanted = BLEU(tokenize="zh").corpus_score(lines("zh.sys"), [lines("zh.ref")]).score
    assert records(ran)[0]["score"] == pytest.approx(wanted, abs=1e-9)
    data = Dataset(
        {"s": tuple(lines("zh.sys"))},
        tuple((line,) for line in lines("zh.ref")),
        languages=("en", "zh"),
    )
    write_folder(data, "folder")
    assert scores(run("score --data folder -q -f json")) == {
        ("s", "bleu"): pytest.approx(wanted, abs=1e-9)
    }


def test_systems_can_be_renamed_and_given_piecemeal(run):
    whole = run("score ref.txt -i a.txt b.txt -m bleu ter --names one two -f tsv")
    pieces = run(
        "score ref.txt -i a.txt -i b.txt -m bleu -m ter --names one --names two --format=tsv"
    )
    assert whole.out == pieces.out
    assert "\none\tbleu\t" in whole.out


def test_metrics_of_one_title_are_told_apart(run):
    ran = run("score ref.txt -i a.txt b.txt -m bleu bleu:tok=intl ter --confidence")
    assert "bleu ↑  bleu:tok=intl ↑  TER ↓" in ran.out
    assert "bleu:tok=intl: how sure is it?" in ran.out
    assert "TER: how sure is it?" in ran.out


def test_a_signature_can_be_pasted_as_a_metric(run):
    first = records(run("score ref.txt -i a.txt -m chrf++ -f json"))[0]
    again = records(run("score ref.txt -i a.txt -f json -m", first["signature"]))[0]
    assert first["metric"] == "chrf++"
    assert again == first | {"metric": first["signature"]}


def test_a_pasted_signature_is_compared_with_the_data(run):
    signature = "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:assay-0.0.9|lang:de-en"
    ran = run("score ref.txt -i a.txt -l de-fr -b -m", signature)
    assert (ran.status, ran.out) == (0, "37.61\n")
    assert ran.err.splitlines() == [
        f"assay: note: bleu: the signature says {said}, but here it is {here}; figures need not be "
        "the same."
        for said, here in (
            ("nrefs:2", "nrefs:1"),
            ("version:assay-0.0.9", f"version:assay-{__version__}"),
            ("lang:de-en", "lang:de-fr"),
        )
    ]
    theirs = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.0"
    assert run("score ref.txt -i a.txt -l de-en -b -m", theirs).err == ""


def test_what_belongs_to_a_signature_is_no_setting(refusal):
    told = refusal("score ref.txt -i a.txt -m bleu:nrefs=3")
    assert "bleu:nrefs=3: nrefs is no setting, but part of a whole signature (NAME|...)" in told


def test_of_several_references_in_a_folder_one_is_taken_and_said(run):
    folder = "wmt/de-en"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("*.py", "suite", "__pycache__"))
    shutil.copy("b.txt", f"{folder}/ref.synthetic.txt")
    line = f"score --data {folder} -i atlas -m bleu -f json"
    ran = run(line)
    assert ran.err == (
        f"assay: note: {folder}: compared with refA alone; there is also refB, refsynthetic. "
        "Choose with --refs NAME ..., or --refs all.\n"
    )
    alone = records(run("score ref.A.txt -i a.txt -m bleu -f json"))[0]
    (found,) = json.loads(ran.out)["records"]
    assert (found["score"], found["signature"]) == (alone["score"], alone["signature"])
    assert "nrefs:1" in alone["signature"]
    assert len(json.loads(ran.out)["inputs"]) == 4, "source, reference, system, documents"
    both = run(f"{line} --refs B A")
    assert both.err == ""
    assert "nrefs:2" in records(both)[0]["signature"]
    assert "nrefs:3" in records(run(f"{line} --refs all"))[0]["signature"]
    assert run(f"{line} -q").err == ""
    assert "has no reference 'refC'" in run(f"{line} --refs refC").err
    assert "--refs chooses among" in run("score ref.txt -i a.txt --refs refA").err


def test_a_reference_is_never_listed_as_a_system(run):
    texts = {"atlas": tuple(demo("systems/atlas.txt")), "refB": tuple(demo("ref.B.txt"))}
    references = tuple(zip(demo("ref.A.txt"), demo("ref.B.txt"), strict=True))
    write_folder(Dataset(texts, references, languages=("de", "en")), "wmt")
    ran = run("score --data wmt -m bleu -f json")
    assert [each["system"] for each in json.loads(ran.out)["records"]] == ["atlas"]
    assert "assay: note: wmt: no system, but a reference: refB; left out.\n" in ran.err
    asked = run("score --data wmt -m bleu -f json -i refB")
    assert [each["system"] for each in json.loads(asked.out)["records"]] == ["refB"]
    assert "no system" not in asked.err
    refused = run("score --data wmt --refs B -i refB")
    assert (refused.status, refused.out) == (2, "")
    assert "refB is the reference, and cannot be a system as well." in refused.err


@pytest.mark.parametrize("layout", ["simple", "mt-metrics-eval"])
def test_a_folder_holds_a_whole_test_set(run, layout):
    folder = str(DEMO)
    if layout == "mt-metrics-eval":
        folder = "wmt"
        systems = {name: tuple(demo(f"systems/{name}.txt")) for name in ("atlas", "birch", "cedar")}
        references = tuple(zip(demo("ref.A.txt"), demo("ref.B.txt"), strict=True))
        documents = tuple(line.split("\t")[1] for line in lines("docs.tsv")[1:])
        dataset = Dataset(
            systems, references, tuple(demo("src.txt")), documents, languages=("de", "en")
        )
        write_folder(dataset, folder)
    options = "-l de-en --refs refA refB -m bleu --documents -f json"
    ran = run(f"score {options} -i birch atlas --data", folder)
    found = records(ran)
    assert [each["system"] for each in found[:2]] == ["birch", "atlas"]
    assert sum(each["document"] is not None for each in found) == 24
    files = records(run("score ref.A.txt ref.B.txt -i b.txt a.txt -m bleu -f json"))
    assert [each["score"] for each in found[:2]] == [each["score"] for each in files]
    inputs = json.loads(ran.out)["inputs"]
    assert len(inputs) == 6, "the source, two references, two of the systems, the documents"
    for each in inputs:
        path = Path(each["path"])
        assert path.is_relative_to(folder)
        assert each["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_groups_are_scored_like_a_corpus_of_their_own(run):
    groups = [line.split("\t")[3] for line in lines("docs.tsv")[1:]]
    Path("groups.txt").write_text("".join(f"{group}\n" for group in groups))
    found = records(run("score ref.txt -i a.txt -m bleu macrof --groups groups.txt -f json"))
    assert {each["group"] for each in found} == {None, *groups}
    ours = {each["group"]: each["score"] for each in found if each["metric"] == "bleu"}
    chosen = [at for at, group in enumerate(groups) if group == "law"]
    hypotheses, references = ([lines(name)[at] for at in chosen] for name in ("a.txt", "ref.txt"))
    assert ours["law"] == pytest.approx(BLEU().corpus_score(hypotheses, [references]).score)


def test_groups_of_another_length_are_refused(refusal):
    Path("short.txt").write_text("x\n")
    assert "short.txt: 1 lines" in refusal("score ref.txt -i a.txt --groups short.txt")


@pytest.mark.parametrize("place", ["reference", "system"])
@pytest.mark.parametrize("ending", ["tsv", "jsonl", "tsv.gz", "jsonl.xz", "xml"])
def test_one_file_can_hold_everything(run, ending, place):
    systems = {name: tuple(demo(f"systems/{name}.txt")) for name in ("atlas", "birch")}
    references = tuple((line,) for line in lines("ref.txt"))
    dataset = Dataset(systems, references, tuple(lines("src.txt")))
    name = f"all.{ending}"
    if ending == "xml":
        Path(name).write_text(wmt_xml(dataset), "utf-8")
    else:
        {"tsv": write_tsv, "jsonl": write_jsonl}[ending.partition(".")[0]](dataset, name)
    ran = run(f"score {'-i ' * (place == 'system')}{name} -f json")
    files = records(run("score ref.txt -i a.txt b.txt -f json --names atlas birch"))
    assert records(ran) == files


def wmt_xml(dataset):
    from xml.sax.saxutils import escape

    def part(tag, lines):
        segments = "".join(
            f'<seg id="{at}">{escape(line)}</seg>' for at, line in enumerate(lines, 1)
        )
        return f"<{tag}><p>{segments}</p></{tag.split()[0]}>"

    parts = [part('src lang="de"', dataset.sources)]
    parts += [part('ref lang="en" translator="A"', [each[0] for each in dataset.references])]
    parts += [part(f'hyp system="{n}" lang="en"', each) for n, each in dataset.systems.items()]
    return f'<dataset id="x"><doc id="d" origlang="de">{"".join(parts)}</doc></dataset>'


def lay_test_set(home):
    for field, text in {
        "src": "src.txt",
        "ref": "ref.txt",
        "docid": "doc",
        "genre": "",
        "origlang": "",
    }.items():
        target = home / "wmt18" / f"wmt18.de-en.{field}"
        target.parent.mkdir(parents=True, exist_ok=True)
        known = Path(text).read_text("utf-8") if text.endswith(".txt") else "x\n" * 120
        target.write_text(known, "utf-8")


def test_a_test_set_of_sacrebleu_s_brings_its_references(spawn, run, tmp_path):
    lay_test_set(tmp_path / "home")
    home = str(tmp_path / "home")
    ran = spawn("score -t wmt18 -l de-en -i a.txt -m bleu -f json", SACREBLEU=home)
    assert records(ran) == records(run("score ref.txt -i a.txt -f json"))
    text = Path("a.txt").read_bytes()
    ran = spawn("score -t wmt18 -l de-en -b", given=text, SACREBLEU=home)
    assert ran.out == "37.61\n"


def test_scores_from_elsewhere_stand_beside_metrics(run):
    human = DEMO / "human" / "da.seg.tsv"
    ran = run(
        "score ref.txt -i a.txt b.txt --names atlas birch --paired-bs --confidence -f json",
        "--scores",
        str(human),
    )
    found = [each for each in records(ran) if each["metric"] == "mean:label=da"]
    rows = [line.split("\t") for line in lines(human)[1:]]
    for each, name in zip(found, ("atlas", "birch"), strict=True):
        values = [float(value) for system, _, value in rows if system == name and value != "None"]
        assert each["score"] == pytest.approx(sum(values) / len(values))
        assert each["low"] < each["score"] < each["high"]
    assert found[0]["signature"] == f"da|label:da|version:assay-{__version__}"
    assert found[1]["p"] < 0.01
    assert json.loads(ran.out)["inputs"][-1]["path"] == str(human)


def test_notes_tell_what_looks_odd_unless_they_are_not_wanted(run):
    Path("blank.txt").write_text("\n" * 120)
    ran = run("score ref.txt -i blank.txt")
    assert ran.status == 0
    assert ran.err == "assay: note: blank: 120 of 120 lines are empty.\n"
    assert run("score ref.txt -i blank.txt -q").err == ""


@pytest.mark.parametrize("options", ["", "--paired-bs --confidence", "--paired-ar --all-pairs"])
@pytest.mark.parametrize(
    ("reference", "first", "second"),
    [
        ("x\n", "x\n", "x\n"),
        ("x\n", "x\n", "y\n"),
        ("x y z\n", "x y z\n", "\n"),
        ("\n\n\n", "\n\n\n", "\n\n\n"),
        ("\n\n\n", "a\n\nb\n", "\n\n\n"),
        ("a b c d e\nf\n", "\n\n", "\n\n"),
        ("a b c d e\nf\n", "a b c d e\nf\n", "a b c d e\nf\n"),
        (".\n.\n", ".\n?\n", " \n \n"),
    ],
)
def test_little_text_is_scored_without_a_warning(run, options, reference, first, second):
    for name, text in {"r": reference, "one": first, "two": second}.items():
        Path(name).write_text(text)
    metrics = "bleu chrf chrf++ ter wer cer macrof microf rouge rouge1"
    line = f"score r -i one two -q -sl -m {metrics} {options}"
    found = records(run(f"{line} --paired-ar-n 50 --paired-bs-n 50 -f json"))
    assert all(each["score"] is not None and each["score"] >= 0 for each in found)
    if first == second:
        tested = [each["p"] for each in found if each.get("baseline")]
        assert set(tested) <= {1.0}
    assert run(line).err == ""


def test_no_p_is_shown_as_0_and_digits_are_those_of_scores(run):
    Path("copy.txt").write_text(Path("ref.txt").read_text("utf-8"), "utf-8")
    shown = run("score ref.txt -i a.txt copy.txt --paired-ar --paired-ar-n 40000 -m chrf -w 0").out
    row = next(line.split() for line in reversed(shown.splitlines()) if line.startswith("copy"))
    assert row[:6] == ["copy", "100", "33", "<0.0001", "<0.0001", "*"]
    assert row[-1] == f"{float(row[-1]):.2f}"
