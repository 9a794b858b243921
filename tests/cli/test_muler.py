"""`assay muler` on the command line: tags given, rules, spaCy, and everything that can go wrong."""

import json
from pathlib import Path

import pytest

KEYS = [
    *(
        "system",
        "metric",
        "resolved",
        "feature",
        "kind",
        "n",
        "plain",
        "oracle",
        "anti",
        "muler",
        "low",
    ),
    *("high", "abl", "under", "over", "equal", "frequency_ref", "frequency_sys"),
]


@pytest.fixture
def tagged(here):
    """A reference and two systems with a part of speech for every token."""
    texts = {
        "r": ["the cat saw a dog", "a man ate the old fish", "she runs"] * 12,
        "x": ["the cat saw a cow", "a man ate an old fish", "he runs"] * 12,
        "y": ["the bird saw a dog", "the man eats fish", "she walks"] * 12,
    }
    tags = {"the": "DET", "a": "DET", "an": "DET", "old": "ADJ", "she": "PRON", "he": "PRON"}
    verbs = {"saw", "ate", "eats", "runs", "walks"}
    for name, lines in texts.items():
        Path(f"{name}.tok").write_text("".join(f"{line}\n" for line in lines))
        rows = [
            " ".join(tags.get(word, "VERB" if word in verbs else "NOUN") for word in line.split())
            for line in lines
        ]
        Path(f"{name}.pos").write_text("".join(f"{row}\n" for row in rows))
    return here


GIVEN = "muler r.tok -i x.tok y.tok --tags r.pos x.pos y.pos"


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def test_given_tags_need_no_tagger(run, tagged):
    found = records(run(f"{GIVEN} -m bleu -F tags --preset paper --format json"))
    assert list(found[0])[: len(KEYS)] == KEYS
    assert {each["feature"] for each in found} == {"DET", "NOUN", "VERB", "ADJ", "PRON"}
    assert {each["kind"] for each in found} == {"tags"}
    by_key = {(each["system"], each["feature"]): each for each in found}
    assert by_key["x.tok", "VERB"]["muler"] == pytest.approx(0)
    assert by_key["x.tok", "PRON"]["n"] == 12
    assert by_key["y.tok", "ADJ"]["n"] == 0
    assert by_key["y.tok", "ADJ"]["muler"] is None


def test_the_tag_files_stand_among_the_inputs(run, tagged):
    ran = run(f"{GIVEN} -F tags --format json")
    paths = [each["path"] for each in json.loads(ran.out)["inputs"]]
    assert paths == ["r.tok", "x.tok", "y.tok", "r.pos", "x.pos", "y.pos"]


def test_universal_tags_in_a_column_file_are_the_kind_upos(run, tagged):
    found = records(run(f"{GIVEN} -F upos:NOUN VERB -m chrf --format json"))
    assert [(each["kind"], each["feature"]) for each in found[::2]] == [
        ("upos", "NOUN"),
        ("upos", "VERB"),
    ]


def test_pronouns_need_neither_tags_nor_model(run, tagged):
    found = records(run("muler r.tok -i x.tok -l de-en -F gender --preset paper --format json"))
    assert [each["feature"] for each in found] == ["gender"]
    assert found[0]["n"] == 12


def test_rules_work_beside_given_tags(run, tagged):
    found = records(run(f"{GIVEN} -l de-en -F NOUN gender --format json"))
    assert {each["kind"] for each in found} == {"upos", "gender"}


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "macrof", "rouge", "wer"])
@pytest.mark.parametrize("form", ["text", "json", "tsv", "latex", "html"])
def test_every_metric_and_format(run, tagged, metric, form):
    ran = run(f"{GIVEN} -F NOUN DET -m {metric} --resamples 20 --format {form}")
    assert (ran.status, ran.err) == (0, "")
    assert "NOUN" in ran.out


def test_metrics_of_one_title_are_told_apart(run, tagged):
    both = f"{GIVEN} -F tags -m bleu bleu:effective_order=yes --resamples 0 -l en-zh"
    shown = run(f"{both} -w 1")
    titles = [line for line in shown.out.splitlines() if "BLEU by feature" in line]
    assert titles == [
        f"{metric}: {system}: BLEU by feature"
        for metric in ("bleu", "bleu:effective_order=yes")
        for system in ("x.tok", "y.tok")
    ]
    found = json.loads(run(f"{both} --format json").out)["records"]
    assert {(each["metric"], each["resolved"]) for each in found} == {
        ("bleu", "bleu:tok=zh"),
        ("bleu:effective_order=yes", "bleu:effective_order=yes,tok=zh"),
    }


def test_one_mask_per_span_is_another_figure_where_spans_are_long(run, here):
    Path("r.txt").write_text("Ann Lee met Bo Ek in town\n" * 3)
    Path("h.txt").write_text("Al met Bo Ek in the town\n" * 3)
    Path("r.ner").write_text("B-PER I-PER O B-PER I-PER O O\n" * 3)
    Path("h.ner").write_text("B-PER O B-PER I-PER O O O\n" * 3)
    line = "muler r.txt -i h.txt --tags r.ner h.ner -F ner --preset sentence --format json --per"
    token, span = (records(run(f"{line} {per}"))[0]["oracle"] for per in ("token", "span"))
    assert span != pytest.approx(token)


def test_without_resamples_nothing_has_an_interval_or_a_test(run, tagged):
    Path("tone.tsv").write_text("cat\t1\ndog\t2\ncow\t-2\n")
    line = f"{GIVEN} -F NOUN DET --scorers tone=tone.tsv --resamples 0"
    found = records(run(f"{line} --format json"))
    limits = [key for key in found[-1] if key.endswith(("_low", "_high"))]
    assert len(limits) == 4
    assert all(found[-1][key] is None for key in limits)
    assert all(each["p"] is each["low"] is None for each in found if "p" in each)
    shown = run(line).out
    assert "signed" in shown
    assert "signed low" not in shown
    assert "resamples" not in shown


def test_the_tone_of_the_texts_is_compared_on_request(run, tagged):
    Path("tone.tsv").write_text("cat\t1\ndog\t2\ncow\t-2\n")
    found = records(run(f"{GIVEN} -F NOUN --scorers tone=tone.tsv --format json"))
    assert [each["scorer"] for each in found if "scorer" in each] == ["tone", "tone"]


BAD = {
    "too few tag files": ("muler r.tok -i x.tok --tags r.pos -F tags", "1 files for 2 texts"),
    "tags that do not line up": (
        "muler r.tok -i x.tok --tags r.pos y.pos -F tags",
        "y.pos, line 2: 4 tags for the 6 tokens",
    ),
    "unknown kind": (f"{GIVEN} -F poss:NOUN", "unknown kind of feature 'poss'"),
    "unknown name": (f"{GIVEN} -F NOUNN", "did you mean 'NOUN'?"),
    "a feature that never occurs": (f"{GIVEN} -F upos:NUM", "NUM"),
    "unknown preset": (f"{GIVEN} -F NOUN --preset papre", "did you mean 'paper'?"),
    "unknown scorer": (f"{GIVEN} -F NOUN --scorers sentimant", "sentiment"),
    "unknown annotator": ("muler r.tok -i x.tok -F NOUN --annotator nobody", "unknown annotator"),
    "unknown pipeline": ("muler r.tok -i x.tok -F NOUN --pipeline xx_none", "xx_none"),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_that_says_what_to_do(refusal, tagged, line, message):
    assert message in refusal(line)


def test_an_empty_system_line_has_no_feature_and_does_no_harm(run, tagged):
    for name in ("x.tok", "x.pos"):
        _, *rest = Path(name).read_text().split("\n")
        Path(name).write_text("\n".join(["", *rest]))
    found = records(run("muler r.tok -i x.tok --tags r.pos x.pos -F NOUN --format json"))
    assert found[0]["n"] == 23


def test_english_is_tagged_by_default(run, tagged, monkeypatch, tmp_path):
    pytest.importorskip("spacy", reason="needs: pip install 'assay-mt[tag]'")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "kept"))
    line = "muler r.tok -i x.tok y.tok -m bleu -F upos --format json"
    first, again = (run(line) for _ in range(2))
    assert first.err == "assay: note: target language en, from the text (pass -l to choose)\n"
    assert {each["feature"] for each in records(first._replace(err=""))} >= {"DET", "NOUN", "VERB"}
    assert again.out == first.out
    assert (tmp_path / "kept" / "annotations.sqlite").is_file()
