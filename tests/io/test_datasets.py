import pytest

from assay.data import DataError
from assay.io import language_pair, read_dataset, read_documents, read_texts


def save(folder, **files):
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, newline="")
    return folder


def refusal(function, *arguments, **options):
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path):
    return save(
        tmp_path,
        ref__txt="r1\nr2\n",
        more__txt="q1\nq2\n",
        src__txt="s1\ns2\n",
        a__txt="a1\na2\n",
        b__txt="b1\n\n",
        short__txt="only\n",
    )


def test_plain_files_make_a_dataset(folder):
    dataset = read_dataset(
        [folder / "ref.txt", str(folder / "more.txt")],
        [folder / "a.txt", folder / "b.txt"],
        source=folder / "src.txt",
        languages="de-en",
    )
    assert dict(dataset.systems) == {"a": ("a1", "a2"), "b": ("b1", "")}
    assert dataset.references == (("r1", "q1"), ("r2", "q2"))
    assert dataset.sources == ("s1", "s2")
    assert dataset.reference_names == ("ref", "more")
    assert dataset.languages == ("de", "en")
    assert dataset.documents == ()


def test_references_are_not_needed(folder):
    dataset = read_dataset([], [folder / "a.txt"], source=folder / "src.txt")
    assert dataset.references == ((), ())


@pytest.mark.parametrize("role", ["reference", "system", "source", "documents"])
def test_unequal_lengths_name_both_files_and_both_counts(folder, role):
    short = folder / "short.txt"
    references = [folder / "ref.txt"] + [short] * (role == "reference")
    systems = [short if role == "system" else folder / "a.txt"]
    options = {role: short} if role in ("source", "documents") else {}
    assert refusal(read_dataset, references, systems, **options) == (
        f"{short}: 1 lines, but {folder / 'ref.txt'} has 2. "
        "Each file needs one line per source segment; blank lines count."
    )


def test_names_rename_the_systems_and_must_fit(folder):
    files = [folder / "a.txt", folder / "b.txt"]
    dataset = read_dataset([folder / "ref.txt"], files, names=["one", "two"])
    assert dict(dataset.systems) == {"one": ("a1", "a2"), "two": ("b1", "")}
    assert "1 names for 2 systems" in refusal(
        read_dataset, [folder / "ref.txt"], files, names=["one"]
    )
    assert "'x' is given twice" in refusal(
        read_dataset, [folder / "ref.txt"], files, names=["x", "x"]
    )


def test_two_systems_of_one_name_are_refused(folder):
    (folder / "other").mkdir()
    save(folder / "other", a__txt="x\ny\n")
    twice = [folder / "a.txt", folder / "a.txt"]
    assert "is given twice as a system" in refusal(read_dataset, [folder / "ref.txt"], twice)
    alike = [folder / "a.txt", folder / "other" / "a.txt"]
    assert "both hold a system 'a'" in refusal(read_dataset, [folder / "ref.txt"], alike)
    dataset = read_dataset([folder / "ref.txt"], alike, names=["a", "b"])
    assert dataset.systems["b"] == ("x", "y")


def test_standard_input_is_refused_twice(folder):
    assert "read only once" in refusal(read_dataset, ["-"], ["-"])
    assert "no files" in refusal(read_dataset, [], [])


DOCUMENTS = {
    "table": "line\tdoc_id\tdomain\n1\td1\tnews\n2\td2\t\n",
    "shuffled": "doc_id\tline\nd2\t2\nd1\t1\n",
    "unnumbered": "domain\tDOC\nnews\td1\nnews\td2\n",
    "plain": "d1\nd2\n",
    "docs": "news\td1\nnews\td2\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_come_in_several_formats(folder, name):
    save(folder, **{f"{name}__tsv": DOCUMENTS[name]})
    assert read_documents(folder / f"{name}.tsv") == ("d1", "d2")
    dataset = read_dataset(
        [folder / "ref.txt"], [folder / "a.txt"], documents=folder / f"{name}.tsv"
    )
    assert dataset.documents == ("d1", "d2")


def test_mt_metrics_eval_documents_have_no_header(folder):
    save(folder, x__docs="domain\tdoc_id\nnews\td2\n")
    assert read_documents(folder / "x.docs") == ("doc_id", "d2")


@pytest.mark.parametrize("numbers", ["1\n3", "1\n1", "0\n1", "1\nx", "1\n-2", "1\n２", "1\n2.0"])
def test_line_numbers_of_documents_must_be_complete(folder, numbers):
    one, two = numbers.split("\n")
    save(folder, d__tsv=f"line\tdoc_id\n{one}\ta\n{two}\tb\n")
    assert ", line " in refusal(read_documents, folder / "d.tsv")


@pytest.mark.parametrize("content", ["a\tb\tc\n", "news\td1\nd2\n"])
def test_other_tables_of_documents_are_refused(folder, content):
    save(folder, d__txt=content)
    assert "doc_id" in refusal(read_documents, folder / "d.txt")


def sgm(kind, documents, **attributes):
    told = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    parts = [f'<{kind} setid="t" {told}>']
    for name, lines in documents.items():
        parts.append(f'<doc docid="{name}">\n<p>')
        parts += [f'<seg id="{number}">{line}</seg>' for number, line in enumerate(lines, 1)]
        parts.append("</p>\n</doc>")
    return "\n".join([*parts, f"</{kind}>\n"])


def test_sgml_files_bring_their_documents(folder):
    save(
        folder,
        r__sgm=sgm("refset", {"d1": ["one"], "d2": ["two &amp; more"]}),
        s__sgml=sgm("srcset", {"d1": ["eins"], "d2": ["zwei"]}),
        mysys__sgm=sgm("tstset", {"d1": ["1"], "d2": ["2"]}),
    )
    dataset = read_dataset([folder / "r.sgm"], [folder / "mysys.sgm"], source=folder / "s.sgml")
    assert dataset.references == (("one",), ("two & more",))
    assert dataset.sources == ("eins", "zwei")
    assert dataset.documents == ("d1", "d2") == read_documents(folder / "r.sgm")
    assert list(dataset.systems) == ["mysys"]


def test_sgml_files_in_another_order_are_refused(folder):
    save(
        folder,
        r__sgm=sgm("refset", {"d1": ["one"], "d2": ["two"]}),
        x__sgm=sgm("tstset", {"d2": ["2"], "d1": ["1"]}),
    )
    message = refusal(read_dataset, [folder / "r.sgm"], [folder / "x.sgm"])
    assert "differ in their documents at segment 1" in message


def test_sgml_is_recognised_by_its_content(folder):
    text = sgm("refset", {"d1": ["one"]})
    save(folder, a__txt=text, b__xml=f'<?xml version="1.0"?>\n<mteval>\n{text}</mteval>\n')
    assert read_texts(folder / "a.txt") == ("one",)
    assert read_texts(folder / "b.xml") == ("one",)
    assert read_texts(folder / "src.txt") == ("s1", "s2")
    assert read_dataset([folder / "b.xml"], []).references == (("one",),)


def test_a_table_can_bring_everything(folder):
    save(folder, all__tsv="doc\tsrc\tref\tmt:x\tmt:y\nd\ts1\tr1\tx1\ty1\nd\ts2\tr2\tx2\ty2\n")
    table = folder / "all.tsv"
    for dataset in (read_dataset([table], []), read_dataset([], [table])):
        assert dataset.systems == {"x": ("x1", "x2"), "y": ("y1", "y2")}
        assert dataset.references == (("r1",), ("r2",))
        assert dataset.sources == ("s1", "s2")
        assert dataset.documents == ("d", "d")


def test_files_of_their_own_go_before_what_a_table_holds(folder):
    save(folder, all__tsv="src\tref\tmt\nS1\tR1\tx1\nS2\tR2\tx2\n")
    table = folder / "all.tsv"
    dataset = read_dataset([folder / "ref.txt"], [table], source=folder / "src.txt")
    assert dataset.references == (("r1",), ("r2",))
    assert dataset.sources == ("s1", "s2")
    assert dataset.systems == {"all": ("x1", "x2")}
    joined = read_dataset([folder / "ref.txt", table], [folder / "a.txt"])
    assert joined.references == (("r1", "R1"), ("r2", "R2"))
    assert joined.reference_names == ()
    assert list(joined.systems) == ["a"]


def test_tables_of_one_system_each_share_their_references(folder):
    save(
        folder,
        x__jsonl='{"src": "s", "ref": "r", "mt": "x"}\n',
        y__jsonl='{"src": "s", "ref": "r", "mt": "y"}\n',
        z__jsonl='{"src": "s", "ref": "other", "mt": "z"}\n',
    )
    dataset = read_dataset([], [folder / "x.jsonl", folder / "y.jsonl"])
    assert dataset.systems == {"x": ("x",), "y": ("y",)}
    assert dataset.references == (("r",),)
    message = refusal(read_dataset, [], [folder / "x.jsonl", folder / "z.jsonl"])
    assert "differ in their references at segment 1" in message


def test_a_table_is_not_a_column_of_texts(folder):
    save(folder, x__jsonl="{}\n")
    assert "holds a whole dataset" in refusal(read_texts, folder / "x.jsonl")


@pytest.mark.parametrize("text", ["de", "-en", "de-", ""])
def test_a_language_pair_has_two_sides(text):
    assert "as in de-en" in refusal(language_pair, text)
