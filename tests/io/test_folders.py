import os
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.data import DataError, Dataset, Scores
from assay.io import (
    folder_names,
    read_folder,
    read_folder_scores,
    read_lines,
    write_folder,
    write_scores,
)

DATASET = Dataset(
    systems={"online-A.0": ("a", "b", "c"), "refB": ("x", "", "z")},
    references=(("r1", "q1"), ("r2", "q2"), ("r3", "q3")),
    sources=("s1\u2028", "s2", "s3"),
    documents=("d1", "d1", "d2"),
    name="wmt21.news",
    languages=("de", "en"),
    reference_names=("refA", "refB"),
)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))
NAME = st.from_regex(r"[A-Za-z0-9_+ -][A-Za-z0-9._+ \u00e9-]{0,12}", fullmatch=True)


def bare(name):
    """What remains of a name however it is spelled: ref-A and refA are one reference."""
    return re.sub("[-_. ]", "", name.casefold())


def refusal(function, *arguments):
    with pytest.raises(DataError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def files(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_a_folder_is_laid_out_as_in_mt_metrics_eval(tmp_path):
    folder = tmp_path / "wmt21.news"
    write_folder(DATASET, folder)
    assert files(folder) == [
        "documents/de-en.docs",
        "references/de-en.refA.txt",
        "references/de-en.refB.txt",
        "sources/de-en.txt",
        "system-outputs/de-en/online-A.0.txt",
        "system-outputs/de-en/refB.txt",
    ]
    assert read_lines(folder / "references/de-en.refB.txt") == ("q1", "q2", "q3")
    everything = read_folder(folder, references=["all"], systems=["online-A.0"])
    assert everything == replace(DATASET, systems={"online-A.0": ("a", "b", "c")})
    assert read_folder(folder) == read_folder(str(folder), "de-en")


@st.composite
def datasets(draw):
    length = draw(st.integers(1, 3))
    column = st.lists(LINE, min_size=length, max_size=length).map(tuple)
    count = draw(st.integers(0, 2))
    names = draw(
        st.lists(
            NAME,
            min_size=count,
            max_size=count,
            unique_by=bare,
        )
    )
    columns = [draw(column) for _ in range(count)]
    return Dataset(
        systems=draw(st.dictionaries(NAME, column, min_size=1, max_size=3)),
        references=tuple(zip(*columns, strict=True)) or ((),) * length,
        sources=draw(st.just(()) | column),
        documents=draw(st.just(()) | column.map(lambda c: tuple(x.replace("\t", "") for x in c))),
        name="set",
        languages=draw(st.sampled_from([("de", "en"), ("en", "zh_CN")])),
        reference_names=tuple(sorted(names)),
    )


@given(dataset=datasets())
def test_a_written_folder_reads_back_the_same(tmp_path_factory, dataset):
    assume(not {bare(each) for each in dataset.systems} & set(map(bare, dataset.reference_names)))
    folder = tmp_path_factory.mktemp("folder") / "set"
    write_folder(dataset, folder)
    order = sorted(f"de-en.{name}.txt" for name in dataset.reference_names)
    names = tuple(name[len("de-en.") : -len(".txt")] for name in order)
    places = [dataset.reference_names.index(name) for name in names]
    expected = replace(
        dataset,
        reference_names=names,
        references=tuple(tuple(each[i] for i in places) for each in dataset.references),
    )
    assert read_folder(folder, references=["all"], systems=list(dataset.systems)) == expected


def test_references_without_names_are_lettered(tmp_path):
    write_folder(replace(DATASET, reference_names=()), tmp_path / "x")
    found = read_folder(tmp_path / "x", references=["all"])
    assert found.reference_names == ("refA", "refB")


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/b", "..", ".", "", ".hidden", "a\\b", "a\0b", "a\nb", "C:x"]
)
def test_names_that_would_leave_the_folder_are_refused(tmp_path, name):
    folder = tmp_path / "inner" / "x"
    bad = [
        replace(DATASET, systems={name: ("a", "b", "c")}),
        replace(DATASET, reference_names=("ok", name)) if name else None,
        replace(DATASET, languages=(name, "en")),
    ]
    for dataset in filter(None, bad):
        assert str(folder) in refusal(write_folder, dataset, folder) or not name
    assert list(tmp_path.iterdir()) == []


def test_what_a_folder_cannot_hold_is_refused(tmp_path):
    folder = tmp_path / "x"
    assert "languages" in refusal(write_folder, replace(DATASET, languages=None), folder)
    uneven = replace(DATASET, references=(("a",), ("b", "c"), ("d",)))
    assert "JSON Lines" in refusal(write_folder, uneven, folder)
    tab = replace(DATASET, documents=("a\tb", "c", "d"))
    assert "tab" in refusal(write_folder, tab, folder)
    bare = replace(DATASET, systems={}, sources=())
    assert "sources or systems" in refusal(write_folder, bare, folder)
    script = replace(DATASET, languages=("zh-Hans", "en"))
    assert "plain language codes" in refusal(write_folder, script, folder)
    assert not folder.exists()


def test_a_language_pair_is_never_mixed_with_another_dataset(tmp_path):
    write_folder(DATASET, tmp_path / "x")
    assert "already holds de-en" in refusal(write_folder, DATASET, tmp_path / "x")


def test_one_of_several_language_pairs_must_be_chosen(tmp_path):
    write_folder(DATASET, tmp_path / "x")
    write_folder(replace(DATASET, languages=("en", "de")), tmp_path / "x")
    assert "holds de-en, en-de: say which" in refusal(read_folder, tmp_path / "x")
    message = refusal(read_folder, tmp_path / "x", "de-fr")
    assert "has no de-fr" in message
    assert "did you mean 'de-en'?" in message
    assert read_folder(tmp_path / "x", "en-de").languages == ("en", "de")


def test_scores_are_found_beside_the_texts(tmp_path):
    folder = tmp_path / "x"
    write_folder(DATASET, folder)
    (folder / "human-scores").mkdir()
    (folder / "metric-scores" / "de-en").mkdir(parents=True)
    systems, values = ("online-A.0",), np.arange(3.0).reshape(1, 3)
    segment = Scores("mqm", "segment", systems, ("1", "2", "3"), values)
    document = Scores("mqm", "document", systems, ("d1", "d2"), values[:, :2])
    system = Scores("BLEU-refA", "system", systems, ("",), values[:, :1])
    write_scores(segment, folder / "human-scores" / "de-en.mqm.seg.score")
    write_scores(document, folder / "human-scores" / "de-en.mqm.doc.score")
    write_scores(system, folder / "metric-scores" / "de-en" / "BLEU-refA.sys.score")
    (folder / "human-scores" / "de-en.mqm.domain.score").write_text("other\n")
    (folder / "human-scores" / "en-de.mqm.sys.score").write_text("other\n")
    found = read_folder_scores(folder, "de-en")
    assert [(each.name, each.granularity) for each in found] == [
        ("mqm", "document"),
        ("mqm", "segment"),
        ("BLEU-refA", "system"),
    ]
    for one, other in zip(found, (document, segment, system), strict=True):
        assert one.items == other.items
        np.testing.assert_array_equal(one.values, other.values)


@pytest.fixture
def simple(tmp_path):
    folder = tmp_path / "wmt99" / "de-en"
    (folder / "systems").mkdir(parents=True)
    (folder / "human").mkdir()
    for name, text in {
        "src.txt": "s\n",
        "ref.txt": "r\n",
        "ref.A.txt": "a\n",
        "refB.txt": "b\n",
        "docs.tsv": "line\tdoc_id\n1\td\n",
        "systems/x.1.txt": "x\n",
        "human/da.sys.tsv": "system\tz\nx.1\t0.5\n",
        "human/notes.tsv": "not scores\n",
        "systems/.DS_Store": "",
    }.items():
        (folder / name).write_text(text)
    return folder


def test_the_simple_layout_is_read_too(simple):
    dataset = read_folder(simple, references=["all"])
    assert dataset.systems == {"x.1": ("x",)}
    assert dict(zip(dataset.reference_names, dataset.references[0], strict=True)) == {
        "ref": "r",
        "refA": "a",
        "refB": "b",
    }
    assert (dataset.sources, dataset.documents) == (("s",), ("d",))
    assert (dataset.name, dataset.languages) == ("wmt99", ("de", "en"))
    for pair in (None, "de-en"):
        assert read_folder(simple.parent, pair, references=["all"]) == dataset
    [scores] = read_folder_scores(simple)
    assert (scores.name, scores.granularity, scores.values.tolist()) == ("da", "system", [[0.5]])


NAMED = {
    "refA above all": (["refB", "refA", "ref"], [], "refA"),
    "however it is spelled": (["ref_B", "Ref-A"], [], "Ref-A"),
    "then one without a letter": (["refB", "ref", "synthetic_ref"], [], "ref"),
    "no machine's": (["refD", "synthetic_ref", "mt-ref"], [], "refD"),
    "none that is also a system": (["refB", "refC"], ["refB"], "refC"),
    "a person's before a machine's": (["refB", "synthetic_ref"], ["refB"], "refB"),
    "of several the first": (["ref10", "ref2"], [], "ref2"),
    "the only one": (["synthetic_ref"], [], "synthetic_ref"),
}


@pytest.mark.parametrize("why", NAMED)
def test_one_reference_is_taken_where_none_is_named(why, tmp_path):
    references, outputs, taken = NAMED[why]
    systems = {name: ("x",) for name in ["mine", *outputs]}
    texts = (tuple(f"by {name}" for name in references),)
    dataset = Dataset(systems, texts, languages=("de", "en"), reference_names=tuple(references))
    write_folder(dataset, tmp_path / "set")
    found = read_folder(tmp_path / "set")
    assert (found.reference_names, found.references) == ((taken,), ((f"by {taken}",),))
    assert list(found.systems) == ["mine"]
    names = folder_names(tmp_path / "set")
    assert (names.taken, names.doubled) == ((taken,), tuple(outputs))
    assert sorted(names.others) == sorted(set(references) - {taken})


def test_references_are_chosen_by_name(simple):
    for wanted in (["refB", "refA"], ["B", "ref.A"]):
        found = read_folder(simple, references=wanted)
        assert (found.reference_names, found.references) == (("refB", "refA"), (("b", "a"),))
    for wanted, message in (
        (["refC"], "has no reference 'refC' (did you mean 'ref'?). It has ref, refA, refB."),
        (["A", "refA"], "the reference refA is named twice; name it once."),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            read_folder(simple, references=wanted)


def test_a_reference_is_a_system_only_where_it_is_asked_for_and_not_compared_with(tmp_path):
    write_folder(DATASET, tmp_path / "x")
    assert list(read_folder(tmp_path / "x").systems) == ["online-A.0"]
    found = read_folder(tmp_path / "x", systems=["refB"])
    assert (found.reference_names, list(found.systems)) == (("refA",), ["refB"])
    with pytest.raises(DataError, match="refB is the reference, and cannot be a system as well"):
        read_folder(tmp_path / "x", references=["refB"], systems=["refB"])


def test_a_simple_folder_of_another_name_takes_the_languages_given(simple):
    other = simple.rename(simple.parent / "mine")
    assert read_folder(other).languages is None
    assert read_folder(other, "fr-en").languages == ("fr", "en")
    assert read_folder(other).name == "mine"


def test_the_wrong_languages_are_refused(simple):
    assert "has no en-de" in refusal(read_folder, simple, "en-de")


def test_folders_without_a_test_set_are_refused(tmp_path):
    assert "holds no test set" in refusal(read_folder, tmp_path)
    assert "is not a folder" in refusal(read_folder, tmp_path / "none")


def test_a_pipe_among_the_systems_is_refused_and_not_waited_for(simple):
    os.mkfifo(simple / "systems" / "y.txt")
    assert "is not a file" in refusal(read_folder, simple)
