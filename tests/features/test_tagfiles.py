"""Tags given beside the texts: one per token, behind the word, or CoNLL-U."""

import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.features.tagged_files import LAYERS, chunks, match_sentences, parse_conllu, read_tags
from assay.io.files import read_lines

FRENCH = """\
# newdoc id = 1
# sent_id = a
# text = Elle parle du New York, 10 000 fois.
1\tElle\telle\tPRON\tPRP\tGender=Fem|Number=Sing\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\tV\tMood=Ind|Number=Sing\t0\troot\t_\tNER=O
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\tP\t_\t5\tcase\t_\t_
4\tle\tle\tDET\tD\tDefinite=Def|Gender=Masc\t5\tdet\t_\t_
5\tNew\tNew\tPROPN\tN\t_\t2\tobl\t_\tNER=B-LOC
6\tYork\tYork\tPROPN\tN\t_\t5\tflat:name\t_\tNER=I-LOC|SpaceAfter=No
7\t,\t,\tPUNCT\t,\t_\t9\tpunct\t_\t_
8\t10 000\t10000\tNUM\tM\tNumForm=Digit\t9\tnummod\t_\tner=S-CARDINAL
8.1\tgosse\tgosse\tNOUN\tN\t_\t_\t_\t2:dep\t_
9\tfois\tfois\tNOUN\tN\tGender=Fem\t2\tobl\t_\tSpaceAfter=No
10\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""
LINE = "Elle parle du New York, 10 000 fois."


@pytest.fixture
def tags(tmp_path):
    """Writes a tag file and reads it back beside the lines."""

    def read(content, lines, name="x.tags"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_tags(path, lines, text="ref.txt")

    return read


def row(number, form, **cells):
    names = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
    return "\t".join((str(number), form, *(cells.get(name, "_") for name in names)))


def conllu(*sentences, comments=()):
    """CoNLL-U of sentences given as forms."""
    blocks = []
    for at, forms in enumerate(sentences):
        rows = [row(number, form, upos="X") for number, form in enumerate(forms, 1)]
        blocks.append("\n".join((*(comments[at : at + 1]), *rows, "")))
    return "\n".join(blocks) + "\n"


def tokens(annotations):
    return [" ".join(annotation.tokens) for annotation in annotations]


# One tag per token


def test_each_token_has_the_tag_that_stands_at_its_place(tags):
    assert tags("DT  NN\n\nVB\n", ["the dog", "", " runs "]) == [
        Annotation(("the", "dog"), {"tags": (TokenSpan(0, 1, "DT"), TokenSpan(1, 2, "NN"))}),
        Annotation((), {"tags": ()}),
        Annotation(("runs",), {"tags": (TokenSpan(0, 1, "VB"),)}),
    ]


@pytest.mark.parametrize("mark", "/_|")
def test_tags_may_stand_behind_their_words(tags, mark):
    rows = f"the{mark}DT dog{mark}NN\n-LRB-{mark}-LRB- a{mark}b{mark}SYM\n"
    found = tags(rows, ["the dog", "( a/b"])
    labels = [[span.label for span in annotation.layers["tags"]] for annotation in found]
    assert labels == [["DT", "NN"], ["-LRB-", "SYM"]]
    assert tokens(found) == ["the dog", "( a/b"]


def test_tags_with_marks_inside_are_tags_where_they_do_not_begin_with_the_word(tags):
    found = tags("N|sg V_3\n", ["dog runs"])
    assert [span.label for span in found[0].layers["tags"]] == ["N|sg", "V_3"]


def test_universal_tags_are_a_layer_of_their_own_too(tags):
    (found,) = tags("DET NOUN PART\n", ["a dog 's"])
    assert found.layers["upos"] == found.layers["tags"] != ()
    assert "upos" not in tags("DT NOUN\n", ["a dog"])[0].layers


def test_bio_tags_are_names_too(tags):
    first, second = tags("B-PER I-PER O\nO\n", ["Ann Lee runs", "so"])
    assert first.layers["ner"] == (TokenSpan(0, 2, "PER"),)
    assert [span.label for span in first.layers["tags"]] == ["B-PER", "I-PER", "O"]
    assert second.layers["ner"] == ()


def test_no_break_spaces_separate_only_where_the_tags_say_so(tags):
    (one,) = tags("CD NNS\n", ["10\xa0000 men"])
    (two,) = tags("CD CD NNS\n", ["10\xa0000 men"])
    assert one.tokens == two.tokens == ("10", "000", "men")
    assert one.layers["tags"] == (TokenSpan(0, 2, "CD"), TokenSpan(2, 3, "NNS"))
    assert two.layers["tags"] == tuple(map(TokenSpan, range(3), range(1, 4), ["CD", "CD", "NNS"]))


def test_tag_files_may_be_packed(tags):
    assert tags(gzip.compress(b"DT\n"), ["the"], "x.tags.gz")[0].tokens == ("the",)


@pytest.mark.parametrize(
    ("content", "lines", "message"),
    [
        ("A\nB\n", ["a"], r"x\.tags has 2 lines, but ref\.txt has 1\. .*one line of tags per"),
        ("A\nA B\n", ["a", "a"], r"x\.tags, line 2: 2 tags for the 1 tokens of ref\.txt\. "),
        ("A\n\n", ["a", "b"], r"x\.tags, line 2: 0 tags for the 1 tokens"),
        ("A\n", [""], r"x\.tags, line 1: 1 tags for the 0 tokens"),
        ("a/A b/B\na/A b\n", ["a b", "a b"], r"x\.tags, line 2: 'b' is not word/TAG"),
        ("a/A b/B\na/A b/\n", ["a b", "a b"], r"x\.tags, line 2: 'b/' is not word/TAG"),
        (b"A\nB\xff\n", ["a", "b"], r"x\.tags, line 2, byte 2: not UTF-8"),
        ("", ["a"], r"x\.tags is empty"),
        ("1\tthe\n", ["the"], r"x\.tags, line 1: 2 columns, but CoNLL-U has 10"),
    ],
)
def test_tags_that_do_not_fit_are_errors_that_say_where(tags, content, lines, message):
    with pytest.raises(DataError, match=message):
        tags(content, lines)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read_tags(tmp_path / "none.txt", ["a"])


WORD = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4)
# No tag may look like CoNLL-U or like word/TAG.
TAG = st.text("ABCXYZ$.,:", min_size=1, max_size=4).filter(lambda tag: tag.isascii())


@given(st.lists(st.lists(st.tuples(WORD, TAG), max_size=6), min_size=1, max_size=6))
def test_any_tags_come_back_at_their_tokens(tmp_path_factory, pairs):
    lines = [" ".join(word for word, _ in each) for each in pairs]
    path = tmp_path_factory.mktemp("tags") / "x.txt"
    path.write_text("".join(" ".join(tag for _, tag in each) + "\n" for each in pairs), "utf-8")
    for annotation, each in zip(read_tags(path, lines), pairs, strict=True):
        assert list(annotation.tokens) == [word for word, _ in each]
        slow = [TokenSpan(at, at + 1, tag) for at, (_, tag) in enumerate(each)]
        assert list(annotation.layers["tags"]) == slow


@pytest.mark.parametrize("name", ["ref", "sys1", "sys2"])
def test_the_ted_tags_are_those_of_the_file(shared, name):
    lines = read_lines(shared / "ted-pos" / f"{name}.tok.txt")
    path = shared / "ted-pos" / f"{name}.pos.txt"
    found = read_tags(path, lines)
    written = path.read_text("utf-8").split()
    assert Counter(s.label for annotation in found for s in annotation.layers["tags"]) == Counter(
        written
    )
    assert [" ".join(annotation.tokens) for annotation in found] == [
        " ".join(line.split()) for line in lines
    ]
    assert {layer for annotation in found for layer in annotation.layers} == {"tags"}


def test_ted_tags_of_the_wrong_system_are_found_out(shared):
    lines = read_lines(shared / "ted-pos" / "sys1.tok.txt")
    with pytest.raises(DataError, match=r"sys2\.pos\.txt, line 1: 20 tags for the 22 tokens"):
        read_tags(shared / "ted-pos" / "sys2.pos.txt", lines)


# Names from labels of tokens


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("B-A I-A I-A O B-A", "0-3A 4-5A"),
        ("B-A B-A", "0-1A 1-2A"),
        ("S-A S-A B-A E-A E-A", "0-1A 1-2A 2-4A 4-5A"),
        ("U-A B-A L-A I-A", "0-1A 1-3A 3-4A"),
        ("I-A I-A I-B", "0-2A 2-3B"),
        ("O I-A O I-A", "1-2A 3-4A"),
        ("A A B _ B", "0-2A 2-3B 4-5B"),
        ("B-X-Y I-X-Y", "0-2X-Y"),
    ],
)
def test_names_are_read_in_every_usual_scheme(labels, names):
    spans = [TokenSpan(at, at + 1, label) for at, label in enumerate(labels.split())]
    assert " ".join(f"{s}-{e}{label}" for s, e, label in chunks(spans)) == names


@given(st.lists(st.sampled_from(["O", *(f"{p}-{n}" for p in "BIESLU" for n in "XY")])))
def test_names_cover_exactly_the_labelled_tokens(labels):
    spans = [TokenSpan(at, at + 1, label) for at, label in enumerate(labels)]
    covered = [(at, name.label) for name in chunks(spans) for at in range(name.start, name.end)]
    assert covered == [(at, label[2:]) for at, label in enumerate(labels) if label != "O"]


# CoNLL-U


def test_conllu_gives_all_its_layers(tags):
    (found,) = tags(FRENCH, [LINE])
    assert found.tokens == tuple(
        ["Elle", "parle", "du", "New", "York", ",", "10", "000", "fois", "."]
    )
    assert [span.label for span in found.layers["upos"]] == (
        ["PRON", "VERB", "ADP", "DET", "PROPN", "PROPN", "PUNCT", "NUM", "NOUN", "PUNCT"]
    )
    assert found.layers["upos"][2:4] == (TokenSpan(2, 3, "ADP"), TokenSpan(2, 3, "DET"))
    assert found.layers["tag"][0] == TokenSpan(0, 1, "PRP")
    assert found.layers["dep"][5] == TokenSpan(4, 5, "flat:name")
    assert found.layers["ner"] == (TokenSpan(3, 5, "LOC"), TokenSpan(6, 8, "CARDINAL"))
    assert tuple(found.layers) == LAYERS


def test_every_morphological_feature_of_a_word_is_a_span(tags):
    (found,) = tags(FRENCH, [LINE])
    assert found.layers["morph"][:2] == (
        TokenSpan(0, 1, "Gender=Fem"),
        TokenSpan(0, 1, "Number=Sing"),
    )
    assert [s.start for s in Feature("morph", "Gender").spans(found)] == [0, 2, 8]
    assert [s.start for s in Feature("morph", "Gender=Fem").spans(found)] == [0, 8]


def test_multi_word_tokens_that_their_words_spell_are_taken_apart(tags):
    rows = [row("1-2", "don't", misc="ner=O"), row(1, "do", upos="AUX"), row(2, "n't", upos="PART")]
    (found,) = tags("\n".join(rows), ["don't"])
    assert found.tokens == ("do", "n't")
    assert found.layers["upos"] == (TokenSpan(0, 1, "AUX"), TokenSpan(1, 2, "PART"))


def test_the_name_of_a_multi_word_token_covers_all_of_it(tags):
    rows = [row("1-2", "Ann's", misc="ner=S-PERSON"), row(1, "Ann"), row(2, "'s")]
    (found,) = tags("\n".join(rows), ["Ann's"])
    assert found.layers["ner"] == (TokenSpan(0, 2, "PERSON"),)


def test_a_name_inside_a_whole_multi_word_token_counts_once(tags):
    rows = [row("1-2", "du"), row(1, "de", misc="NER=B-X"), row(2, "le", misc="NER=B-X")]
    (found,) = tags("\n".join(rows), ["du"])
    assert found.layers["ner"] == (TokenSpan(0, 1, "X"),)


@pytest.mark.parametrize(
    ("misc", "names"),
    [
        ("NER=B-PER", ["PER"]),
        ("SpaceAfter=No|ner=S-PER", ["PER"]),
        ("Entity=B-PER", ["PER"]),
        ("NER=PER", ["PER"]),
        ("NER=O", []),
        ("Entity=(e1-person-new", []),
        ("SpaceAfter=No", []),
    ],
)
def test_names_are_found_in_the_last_column(tags, misc, names):
    (found,) = tags(row(1, "Ann", misc=misc), ["Ann"])
    assert [span.label for span in found.layers["ner"]] == names


@pytest.mark.parametrize("name", ["a.conllu", "a.txt", "a.CONLLU.gz"])
def test_conllu_is_recognised_by_name_or_content(tags, name):
    content = FRENCH.encode()
    (found,) = tags(gzip.compress(content) if name.endswith("gz") else content, [LINE], name)
    assert "dep" in found.layers


def test_windows_line_ends_make_no_difference(tags):
    assert tags(FRENCH.replace("\n", "\r\n"), [LINE]) == tags(FRENCH, [LINE])


def test_several_sentences_make_up_a_line(tags):
    content = conllu(["a", "b", "."], ["c"], ["d", "e"])
    found = tags(content, ["a b.", "", "c de"])
    assert tokens(found) == ["a b .", "", "c d e"]
    assert found[2].layers["upos"] == tuple(TokenSpan(at, at + 1, "X") for at in range(3))
    assert found[1].layers == dict.fromkeys(LAYERS, ())


def test_sentences_as_many_as_lines_still_go_where_their_text_is(tags):
    content = conllu(["a"], ["b"], ["c"])
    assert tokens(tags(content, ["a b", "", "c"])) == ["a b", "", "c"]


def test_a_tagger_may_change_quotes_and_brackets(tags):
    content = conllu(["``", "a", "''"], ["-LRB-", "b", "-RRB-"])
    assert tokens(tags(content, ["“a”", "", "( b )"])) == ["`` a ''", "", "-LRB- b -RRB-"]


@pytest.mark.parametrize(
    "comments", [["# newdoc", "", "# newdoc"], [f"# segment_id = {n}" for n in (1, 1, 2)]]
)
def test_comments_say_where_a_segment_begins(tags, comments):
    content = conllu(["«", "a"], ["b"], ["c", "»"], comments=comments)
    assert tokens(tags(content, ['"a b', 'c"'])) == ["« a b", "c »"]


@pytest.mark.parametrize(
    ("content", "lines", "message"),
    [
        (
            conllu(["a"], ["b"]),
            ["a", "c"],
            r"line 3: this sentence is not line 2 of ref\.txt \('b'",
        ),
        (conllu(["a"], ["b"]), ["a", "b", "c"], r"2 sentences for the 3 lines .* before line 3 "),
        (conllu(["a"], ["b"], ["c"]), ["a b"], r"the lines end before the sentence on line 5 "),
        (conllu(["a"], ["b"], ["c"]), ["a", "x"], r"line 2 \('x'\) is not made up of .* line 3 of"),
        ("# text = a\n", ["a"], r"0 sentences for the 1 lines of ref\.txt; .* before line 1"),
        ("# text = a\n1\ta\t_\n", ["a"], r"x\.tags, line 2: 3 columns, but CoNLL-U has 10"),
        (row(1, "a").replace("\t", " ") + "\n# text = a", ["a"], r"line 1: 1 columns"),
        (f"{row(1, 'a')}\n{row('x', 'b')}", ["a b"], r"line 2: 'x' is no word number"),
        (f"{row(1, 'a')}\n{row('9' * 5000, 'b')}", ["a b"], r"is no word number"),
        (f"{row(1, 'a')}\n{row(1, 'b')}", ["a b"], r"line 2: word 1 where word 2 should stand"),
        (f"{row('1-2', 'ab')}\n{row(1, 'a')}", ["ab"], r"line 1: the sentence ends before .* 1-2 "),
        (f"{row('2-1', 'ab')}\n{row(1, 'a')}", ["ab"], r"line 1: word 2-1 where word 1"),
        (row(1, " "), ["a"], r"line 1: the second column, the word, is empty"),
    ],
)
def test_conllu_that_does_not_fit_is_an_error_that_says_where(tags, content, lines, message):
    with pytest.raises(DataError, match=message):
        tags(content, lines)


FORM = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4)
LABEL = st.sampled_from(["_", "A", "B", "nsubj:pass"])
FEATURES = st.lists(st.sampled_from(["Case=Nom", "Gender=Fem", "PronType=Int,Rel"]), unique=True)
WORDS = st.lists(st.tuples(FORM, LABEL, LABEL, FEATURES, LABEL), min_size=1, max_size=5)


def written(words):
    """A sentence as CoNLL-U."""
    return [
        row(n, form, upos=upos, xpos=xpos, feats="|".join(feats) or "_", deprel=dep)
        for n, (form, upos, xpos, feats, dep) in enumerate(words, 1)
    ]


def labelled(words, column):
    return tuple(
        TokenSpan(at, at + 1, word[column]) for at, word in enumerate(words) if word[column] != "_"
    )


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_conllu_comes_back_as_it_was_written(sentences):
    rows = [line for words in sentences for line in (*written(words), "")]
    read = parse_conllu(rows)
    for sentence, words in zip(read, sentences, strict=True):
        layers = sentence.annotation.layers
        assert sentence.annotation.tokens == tuple(word[0] for word in words)
        assert layers["upos"] == labelled(words, 1)
        assert layers["tag"] == labelled(words, 2)
        assert layers["dep"] == labelled(words, 4)
        assert [s.label for s in layers["morph"]] == [each for word in words for each in word[3]]


@given(st.lists(st.lists(WORDS, max_size=3), min_size=1, max_size=5), st.sampled_from(["", " "]))
def test_sentences_come_back_to_the_lines_that_they_were_made_of(lines, blank):
    texts = [blank.join(word[0] for words in line for word in words) for line in lines]
    rows = [each for line in lines for words in line for each in (*written(words), "")]
    found = match_sentences(parse_conllu(rows), texts, "x")
    assert ["".join(annotation.tokens) for annotation in found] == [
        "".join(text.split()) for text in texts
    ]
    for annotation in found:
        last = max((span.end for span in annotation.layers["upos"]), default=0)
        assert last <= len(annotation.tokens)


@given(st.text(st.sampled_from("12-.#\t\n _ab=|text"), max_size=60), st.lists(st.text("ab ")))
def test_hostile_conllu_is_read_or_refused(content, lines):
    try:
        found = match_sentences(parse_conllu(content.split("\n")), lines, "x")
    except DataError:
        return
    assert len(found) == len(lines)
