"""Specifications of features, and what they stand for in given texts."""

import importlib
import sys
import textwrap
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError, Dataset
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.features.rules import gender
from assay.features.select import (
    ANNOTATORS,
    ENTITIES,
    KINDS,
    MORPH,
    PART,
    UPOS,
    FeatureRequest,
    annotate_dataset,
    layers_needed,
    parse_features,
    resolve,
    rules_for,
)
from assay.features.tagged_files import read_tags
from assay.io.files import read_lines


def annotation(**layers):
    """A text whose layers have these labels, one per token."""
    most = max((len(labels.split()) for labels in layers.values()), default=0)
    return Annotation(
        ("x",) * most,
        {
            name: tuple(TokenSpan(at, at + 1, label) for at, label in enumerate(labels.split()))
            for name, labels in layers.items()
        },
    )


def resolved(specs, *annotations, kinds=()):
    return [str(each) for each in resolve(parse_features(specs.split(), kinds=kinds), annotations)]


TEXT = annotation(
    upos="DET NOUN VERB DET NOUN PART NOUN",
    ner="PERSON GPE GPE",
    morph="Gender=Fem Number=Sing Number=Plur Gender=Masc Number=Sing PronType=Int,Rel",
    dep="nsubj root nsubj:pass",
    tags="NN NN nn DT",
)


# Names


def test_there_are_16_universal_tags_and_18_entity_types():
    assert len(set(UPOS)) == 16
    assert len(ENTITIES) == 18
    assert PART not in UPOS


def test_no_name_is_of_two_kinds():
    names = [*KINDS, *UPOS, PART, *ENTITIES, *MORPH]
    assert max(Counter(names).values()) == 1


# Parsing


@pytest.mark.parametrize(
    ("spec", "requests"),
    [
        ("upos", [FeatureRequest("upos")]),
        ("NER", [FeatureRequest("ner")]),
        ("ner:PERSON,GPE", [FeatureRequest("ner", ("PERSON", "GPE"))]),
        ("upos:noun, VERB", [FeatureRequest("upos", ("NOUN", "VERB"))]),
        ("morph:Gender,Number", [FeatureRequest("morph", ("Gender", "Number"))]),
        ("morph:Gender=Fem,Number", [FeatureRequest("morph", ("Gender=Fem", "Number"))]),
        (
            "morph:PronType=Int,Rel,number",
            [FeatureRequest("morph", ("PronType=Int,Rel", "number"))],
        ),
        ("dep:nsubj:pass,obj", [FeatureRequest("dep", ("nsubj:pass", "obj"))]),
        ("tags:,", None),
        ("NOUN", [FeatureRequest("upos", ("NOUN",))]),
        ("noun,gpe", [FeatureRequest("upos", ("NOUN",)), FeatureRequest("ner", ("GPE",))]),
        ("PERSON", [FeatureRequest("ner", ("PERSON",))]),
        ("Person", [FeatureRequest("morph", ("Person",))]),
        ("Gender", [FeatureRequest("morph", ("Gender",))]),
        ("gender", [FeatureRequest("gender")]),
        ("gender:fem", [FeatureRequest("gender", ("Fem",))]),
        ("PART", [FeatureRequest("upos", ("PART",))]),
        ("list:a,b:c.tsv", [FeatureRequest("list", path="a,b:c.tsv")]),
        ("regex:x.tsv", [FeatureRequest("regex", path="x.tsv")]),
    ],
)
def test_specifications_say_what_is_wanted(spec, requests):
    if requests is None:
        with pytest.raises(DataError, match=r"'tags:,': a name is missing\. Write tags:NAME,NAME"):
            parse_features([spec])
    else:
        assert parse_features([spec]) == requests


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (
            ["NUON"],
            r"unknown feature 'NUON' \(did you mean 'NOUN'\?\)\. Kinds: upos, .*names: NOUN",
        ),
        (["NN"], r"unknown feature 'NN'.* Others need their kind: tags:NN\."),
        ([""], r"unknown feature ''"),
        (["nre:PERSON"], r"unknown kind of feature 'nre' \(did you mean 'ner'\?\)\. Kinds: upos"),
        (["upos:NUON"], r"upos has no 'NUON' \(did you mean 'NOUN'\?\)\. It has: NOUN, VERB"),
        (["gender:Male"], r"gender has no 'Male'.* It has: Masc, Fem, Neut"),
        (["person"], r"'person' can be read both ways: write ner:PERSON or morph:Person"),
        (["GENDER"], r"'GENDER' can be read both ways: write gender or morph:Gender"),
        (["ner:"], r"'ner:': a name is missing"),
        (["ner:A,,B"], r"a name is missing"),
        (["list"], r"'list' needs a file: list:FILE"),
        (["regex:"], r"'regex' needs a file: regex:FILE"),
        ([], r"no features given\. Give some of: upos"),
        ("upos", r"features are a list: pass \['upos'\]"),
    ],
)
def test_bad_specifications_are_errors_that_teach(specs, message):
    with pytest.raises(DataError, match=message):
        parse_features(specs)


@given(st.text())
def test_any_specification_is_read_or_refused(spec):
    try:
        requests = parse_features([spec])
    except DataError:
        return
    assert all(request.kind in KINDS for request in requests)


def test_layers_of_other_annotators_are_kinds_too():
    assert parse_features(["colour:red"], kinds=["colour"]) == [FeatureRequest("colour", ("red",))]
    with pytest.raises(DataError, match=r"Kinds: upos, .*, colour"):
        parse_features(["culuor:red"], kinds=["colour"])


# Resolving


def test_universal_tags_come_in_the_order_of_the_table_and_others_after_them():
    assert resolved("upos", TEXT) == ["upos:NOUN", "upos:VERB", "upos:DET", "upos:PART"]


def test_other_labels_come_by_frequency():
    assert resolved("ner", TEXT) == ["ner:GPE", "ner:PERSON"]
    assert resolved("dep tags", TEXT) == [
        *("dep:nsubj", "dep:nsubj:pass", "dep:root"),
        *("tags:NN", "tags:DT", "tags:nn"),
    ]


def test_morphology_is_by_name_and_not_by_value():
    assert resolved("morph", TEXT) == ["morph:Number", "morph:Gender", "morph:PronType"]


def test_named_features_come_in_the_order_asked_for_and_once():
    specs = "morph:gender=fem PERSON morph:PronType=Int,Rel,number upos:DET Number upos"
    assert resolved(specs, TEXT) == [
        *("morph:Gender=Fem", "ner:PERSON", "morph:PronType=Int,Rel", "morph:Number"),
        *("upos:DET", "upos:NOUN", "upos:VERB", "upos:PART"),
    ]


def test_case_counts_where_two_labels_differ_in_it():
    assert resolved("tags:nn,NN,dt", TEXT) == ["tags:nn", "tags:NN", "tags:DT"]


def test_a_feature_of_one_side_only_is_kept():
    assert resolved("upos:X NOUN", annotation(upos="X"), annotation(upos="NOUN"))[0] == "upos:X"


def test_every_resolved_feature_has_spans():
    features = resolve(parse_features(["upos", "ner", "morph", "dep", "tags"]), [TEXT])
    assert len(features) == 4 + 2 + 3 + 3 + 3
    assert all(feature.spans(TEXT) for feature in features)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "ner:PERSN",
            r"'ner:PERSN' occurs in none .*mean 'PERSON'\?\)\. What occurs: GPE, PERSON\.",
        ),
        ("INTJ", r"'upos:INTJ' occurs in none of the texts.* What occurs: NOUN, VERB, DET, PART\."),
        ("morph:Gender=Neut", r"'morph:Gender=Neut' occurs in none"),
        ("morph:Gendre", r"did you mean 'Gender'\?\)\. What occurs: Number, Gender, PronType\."),
        ("tag", r"'tag': the annotations have no layer 'tag', only upos, ner, morph, dep, tags\."),
        ("gender:Fem", r"'gender:Fem': the annotations have no layer 'gender-value'"),
        ("tags:Nn", r"'tags:Nn' occurs in none"),
    ],
)
def test_features_that_never_occur_are_errors(spec, message):
    with pytest.raises(DataError, match=message):
        resolved(spec, TEXT)


def test_a_kind_that_never_occurs_is_an_error():
    with pytest.raises(
        DataError, match=r"feature 'ner' occurs in none of the texts\. Leave it out"
    ):
        resolved("ner", annotation(ner=""))
    with pytest.raises(DataError, match="no layer 'ner', only bare tokens"):
        resolved("ner")


def test_a_gender_that_does_not_occur_is_named_as_it_was_asked_for():
    annotations = gender().annotate(["He came."])
    with pytest.raises(DataError, match=r"feature 'gender:Fem' occurs .* What occurs: Masc\."):
        resolved("gender:Fem", *annotations)


def test_long_lists_of_what_occurs_are_cut():
    many = annotation(tags=" ".join(f"t{n:03}" for n in range(60)))
    with pytest.raises(DataError, match=r"t039, \.\.\.\.$"):
        resolved("tags:q", many)


def test_the_ted_tags_are_features_by_frequency(shared):
    folder = shared / "ted-pos"
    annotations = read_tags(folder / "ref.pos.txt", read_lines(folder / "ref.tok.txt"))
    written = Counter((folder / "ref.pos.txt").read_text("utf-8").split())
    features = resolve(parse_features(["tags"]), annotations)
    counts = [written[feature.name] for feature in features]
    assert counts == sorted(written.values(), reverse=True)
    assert {feature.name for feature in features} == set(written)


# What requests need


def test_requests_say_which_layers_they_need():
    requests = parse_features(["gender", "gender:Fem", "NOUN", "list:x", "upos", "Gender"])
    assert layers_needed(requests) == ("gender", "gender-value", "upos", "list", "morph")


def test_features_without_a_model_bring_their_annotators(tmp_path):
    (tmp_path / "a.tsv").write_text("red\tColour\n5\tNumber\n")
    (tmp_path / "b.tsv").write_text("blue\tColour\n")
    (tmp_path / "r.tsv").write_text("Cap\t\\b[A-Z]\n")
    specs = [f"list:{tmp_path}/a.tsv", f"list:{tmp_path}/b.tsv", f"regex:{tmp_path}/r.tsv"]
    requests = parse_features([*specs, "gender", "upos"])
    rules = rules_for(requests)
    assert rules.layers == ("gender", "gender-value", "list", "regex")
    assert set(layers_needed(requests)) - set(rules.layers) == {"upos"}
    annotations = rules.annotate(["She saw a red", "and a blue bird."])
    features = resolve(requests[:-1], annotations)
    assert list(map(str, features)) == ["list:Colour", "regex:Cap", "gender:gender"]


def test_features_of_taggers_bring_no_annotator():
    assert rules_for(parse_features(["upos", "ner"])).parts == ()


def test_a_missing_list_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"x\.tsv does not exist"):
        rules_for(parse_features([f"list:{tmp_path}/x.tsv"]))


# Annotators by name


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that offers annotators under entry points."""
    (tmp_path / "colours_of_mine.py").write_text(
        textwrap.dedent("""
            from assay.features.rules import WordListAnnotator

            def colours():
                return WordListAnnotator("colour", {"red": ("red",)})

            ready = colours()
            number = 5

            def broken():
                raise RuntimeError("no model here")
        """)
    )
    about = tmp_path / "colours-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: colours\nVersion: 1\n")
    points = {"colours": "colours", "ready": "ready", "number": "number", "broken": "broken"}
    lines = [f"{name} = colours_of_mine:{each}" for name, each in points.items()]
    missing = "missing = no_such_module_at_all:x"
    (about / "entry_points.txt").write_text("\n".join(["[assay.annotators]", *lines, missing]))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    ANNOTATORS.forget_plugins()
    yield
    sys.modules.pop("colours_of_mine", None)
    ANNOTATORS.forget_plugins()


@pytest.mark.usefixtures("package")
@pytest.mark.filterwarnings("ignore::assay.registry.PluginWarning")  # the broken ones, when listed
@pytest.mark.parametrize("name", ["colours", "ready"])
def test_packages_offer_annotators_by_name(name):
    annotator = ANNOTATORS.parse(name)
    assert annotator.layers == ("colour",)
    annotations = annotator.annotate(["a red car"])
    assert resolved("colour:red", *annotations, kinds=annotator.layers) == ["colour:red"]
    assert name in ANNOTATORS.names()


@pytest.mark.usefixtures("package")
@pytest.mark.filterwarnings("ignore::assay.registry.PluginWarning")  # the broken ones, when listed
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "annotator 'broken' could not be loaded: no model here"),
        ("missing", "annotator 'missing' could not be loaded: No module named"),
        ("number", "annotator 'number': its entry point gives no Annotator"),
        ("colour", r"unknown annotator 'colour' \(did you mean 'colours'\?\)\. Annotators: gender"),
    ],
)
def test_annotators_that_cannot_be_had_are_errors(name, message):
    with pytest.raises(DataError, match=message):
        ANNOTATORS.parse(name)


def test_the_gender_annotator_is_built_in():
    assert ANNOTATORS.parse("gender") == gender()
    assert Feature("gender", "gender").spans(ANNOTATORS.parse("gender").annotate(["she"])[0])


def test_a_line_too_long_to_tag_is_told_by_its_text():
    pytest.importorskip("spacy")
    outputs = {"one": ("a", "b"), "two": ("a", "x " * 600_000)}
    dataset = Dataset(outputs, (("a",), ("b",)), languages=("de", "en"))
    with pytest.raises(DataError, match=r"^'two', line 2 has 1200000 characters, too many to tag"):
        annotate_dataset(dataset, ["upos"], cache=False)
