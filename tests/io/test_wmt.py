import pytest
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from assay.data import DataError
from assay.io import read_dataset, read_sgm, read_wmt_xml

SGM = """<refset setid="newstest" srclang="any" trglang="en">
<doc sysid="ref" docid="cnn.1" genre="news" origlang="de">
<p>
<seg id="1">One sentence.</seg>
<seg id="2">Another  one &amp; a half</seg>
</p>
</doc>
<doc docid="bbc.2">
<seg id="1">No more.</seg>
</doc>
</refset>
"""

XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021.de-en">
 <collection id="c">
  <doc id="d1" origlang="de">
   <src lang="de"><p><seg id="1">Eins &amp; mehr</seg><seg id="2">Zwei</seg></p>
    <p><seg id="3">Ohne</seg></p></src>
   <ref lang="en" translator="A"><p><seg id="1">One &amp; more</seg><seg id="2">Two</seg></p></ref>
   <ref lang="en" translator="B"><p><seg id="1">The one</seg></p></ref>
   <hyp system="sys-1" language="en">
    <p><seg id="1">1</seg><seg id="2">2</seg><seg id="3">3</seg></p></hyp>
   <hyp system="sys-2" language="en"><p><seg id="1"></seg><seg id="2"> b
     c </seg><seg id="3">c</seg></p></hyp>
  </doc>
  <doc id="suite" origlang="de" testsuite="x"><src lang="de"><seg id="1">x</seg></src></doc>
  <doc id="d2" origlang="en">
   <src lang="de"><seg id="1">Drei</seg></src>
   <ref lang="en" translator="A"><seg id="1">Three</seg></ref>
   <hyp system="sys-2" lang="en"><seg id="1">d</seg></hyp>
   <hyp system="sys-1" lang="en"><seg id="1">4</seg></hyp>
  </doc>
 </collection>
</dataset>
"""


def save(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refusal(function, *arguments):
    with pytest.raises(DataError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_sgml_gives_lines_and_documents(tmp_path):
    texts = read_sgm(save(tmp_path / "a.sgm", SGM))
    assert texts.lines == ("One sentence.", "Another  one & a half", "No more.")
    assert texts.documents == ("cnn.1", "cnn.1", "bbc.2")


def test_sgml_has_the_segments_that_sacrebleu_finds(tmp_path):
    path, out = save(tmp_path / "a.sgm", SGM.replace("&amp;", "and")), tmp_path / "out"
    FakeSGMLDataset("x", langpairs={})._convert_format(str(path), str(out))
    theirs = out.read_text().splitlines()
    assert [" ".join(line.split()) for line in read_sgm(path).lines] == theirs


def test_sgml_tags_may_be_in_any_case_and_quotes(tmp_path):
    tags = "<TSTSET>\r\n<DOC DocId='it&apos;s'\n genre=\"a>b\"><Seg id=1>"
    text = tags + "\r\n a < b\r\nc &#8212; &lt;seg&gt;"
    path = save(tmp_path / "a.sgm", text + " AT&T &nosuch; </SEG ></DOC></TSTSET>")
    assert read_sgm(path).lines == ("a < b c — <seg> AT&T &nosuch;",)
    assert read_sgm(path).documents == ("it's",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<refset>\n<seg id='1'>a\n<seg id='2'>b</seg>", "line 3: <seg> and </seg> do not pair up"),
        ("<refset>\n</seg>", "line 2: <seg> and </seg> do not pair up"),
        ("<refset>\n<seg id='1'>a\n", "line 2: this <seg> is never closed"),
        ("<refset>\n</refset>", "has no <seg>"),
        (SGM.replace('id="2"', 'id="1"'), "document 'cnn.1' has segment 1 twice"),
    ],
)
def test_bad_sgml_is_refused(tmp_path, text, message):
    assert message in refusal(read_sgm, save(tmp_path / "a.sgm", text))


def test_hostile_sgml_is_read_in_no_time(tmp_path):
    path = save(tmp_path / "a.sgm", "<refset>" + "<seg \"'" * 100_000)
    assert "has no <seg>" in refusal(read_sgm, path)
    save(path, f'<refset><seg id="1"{"-1" * 100_000}>One.</seg></refset>')
    assert read_sgm(path).lines == ("One.",)
    blanks = " " * 1_000_000
    save(path, f'<refset><seg id="1">{blanks}One{blanks}line.\n{blanks}\n Two.\n</seg></refset>')
    assert read_sgm(path).lines == (f"One{blanks}line. Two.",)


def test_xml_gives_everything(tmp_path):
    dataset = read_wmt_xml(save(tmp_path / "a.xml", XML))
    assert dataset.sources == ("Eins & mehr", "Zwei", "Drei")
    assert dataset.references == (("One & more", "The one"), ("Two",), ("Three",))
    assert dataset.reference_names == ("A", "B")
    assert dataset.systems == {"sys-1": ("1", "2", "4"), "sys-2": ("", "b c", "d")}
    assert dataset.documents == ("d1", "d1", "d2")
    assert dataset.languages == ("de", "en")
    assert dataset.name == "newstest2021.de-en"


def test_xml_agrees_with_sacrebleu(tmp_path):
    path = save(tmp_path / "a.xml", XML)
    dataset = read_wmt_xml(path)
    theirs = WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    clean = WMTXMLDataset._clean
    assert list(dataset.sources) == theirs["src"]
    assert list(dataset.documents) == theirs["docid"]
    assert [each[0] for each in dataset.references] == theirs["ref:A"]
    for system in ("sys-1", "sys-2"):
        assert list(dataset.systems[system]) == [clean(line) for line in theirs[system]]


def test_xml_can_stand_for_references_or_systems(tmp_path):
    path = save(tmp_path / "a.xml", XML)
    other = save(tmp_path / "mine.txt", "a\nb\nc\n")
    assert list(read_dataset([path], []).systems) == ["sys-1", "sys-2"]
    mixed = read_dataset([path], [other])
    assert list(mixed.systems) == ["mine"]
    assert mixed.sources == ("Eins & mehr", "Zwei", "Drei")
    assert mixed.languages == ("de", "en")
    assert list(read_dataset([], [path, other]).systems) == ["sys-1", "sys-2", "mine"]


def test_xml_without_references_keeps_all_segments(tmp_path):
    segments = "<seg id='10'>z</seg><seg id='9'>y</seg>"
    text = f"<dataset><doc id='d'><src lang='de'>{segments}</src></doc></dataset>"
    dataset = read_wmt_xml(save(tmp_path / "a.xml", text))
    assert dataset.sources == ("y", "z")
    assert dataset.references == ((), ())


def test_xml_in_another_encoding_is_read_as_it_declares(tmp_path):
    segments = "<doc><src><seg id='1'>é</seg></src></doc>"
    text = f"<?xml version='1.0' encoding='utf-16'?><dataset>{segments}</dataset>"
    (tmp_path / "a.xml").write_bytes(text.encode("utf-16"))
    assert read_dataset([], [], source=tmp_path / "a.xml").sources == ("é",)


BOMB = (
    "<!DOCTYPE x [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {'a' * n} '{('&' + 'a' * (n - 1) + ';') * 10}'>" for n in range(2, 12))
    + "]>\n<dataset><doc><src><seg>&aaaaaaaaaaa;</seg></src></doc></dataset>"
)
FILE = "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>\n<dataset>&a;</dataset>"


@pytest.mark.parametrize("text", [BOMB, FILE])
def test_entity_declarations_are_refused(tmp_path, text):
    assert "declares XML entities" in refusal(read_wmt_xml, save(tmp_path / "a.xml", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<dataset>\n<doc>\n</dataset>", "line 3: not well-formed"),
        (XML.replace("Zwei", "Zw\x00ei"), ", line 5: not well-formed"),
        ("<dataset/>", "has no segments"),
        ("<?xml version='1.0' encoding='nosuch'?><a/>", "a.xml"),
        (XML.replace('<seg id="3">3</seg>', ""), "document 'd1': system 'sys-1' has no segment 3"),
        (
            XML.replace('"sys-2" lang=', '"new" lang='),
            "'d1': system 'new' has no",
        ),
        (XML.replace('<seg id="2">Zwei', '<seg id="1">Zwei'), "<src> has segment 1 twice"),
        ("<doc>" * 99_999 + "</doc>" * 99_999, "a.xml: a <doc> stands inside another one"),
    ],
)
def test_bad_xml_is_refused(tmp_path, text, message):
    assert message in refusal(read_wmt_xml, save(tmp_path / "a.xml", text))


def test_deeply_nested_xml_is_no_trouble(tmp_path):
    deep = "<p>" * 20_000 + "<seg id='1'>x</seg>" + "</p>" * 20_000
    path = save(tmp_path / "a.xml", f"<dataset><doc><src>{deep}</src></doc></dataset>")
    assert read_wmt_xml(path).sources == ("x",)
