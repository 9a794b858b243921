import hashlib
import os
import subprocess
import sys
import tarfile

import pytest
from sacrebleu.dataset import DATASETS
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from assay.data import DataError
from assay.io import read_testset

XML = """<dataset id="x"><doc id="d1" origlang="de">
<src lang="de"><p><seg id="1">Eins</seg><seg id="2">Zwei</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">One</seg><seg id="2">Two</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">1</seg><seg id="2">2</seg></p></ref>
</doc></dataset>
"""


def refusal(function, *arguments, **options):
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def lay(folder, name, **fields):
    (folder / name).mkdir(parents=True)
    for field, text in ({"genre": "n\n", "origlang": "de\n"} | fields).items():
        (folder / name / f"{name}.de-en.{field}").write_text(text)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """sacreBLEU's folder, with two test sets already unpacked."""
    lay(tmp_path, "wmt17", src="e\nz\n", ref="1\n2\n", docid="a\nb\n")
    lay(tmp_path, "wmt18", src="d\n", ref="3\n", docid="a\n")
    for name in ("wmt17", "wmt18"):
        monkeypatch.setattr(DATASETS[name], "_outdir", str(tmp_path / name))
        monkeypatch.setattr(DATASETS[name], "_rawdir", str(tmp_path / name / "raw"))
    return tmp_path


def test_a_test_set_has_sources_references_and_documents(home):
    (home / "sys.txt").write_text("x\ny\n")
    dataset = read_testset("wmt17", "de-en", systems=[home / "sys.txt"])
    assert dataset.sources == ("e", "z")
    assert dataset.references == (("1",), ("2",))
    assert dataset.documents == ("a", "b")
    assert dataset.systems == {"sys": ("x", "y")}
    assert (dataset.name, dataset.languages) == ("wmt17", ("de", "en"))


def test_test_sets_are_joined_by_commas(home):
    dataset = read_testset("wmt17,wmt18", "de-en")
    assert dataset.sources == ("e", "z", "d")
    assert dataset.references == (("1",), ("2",), ("3",))
    assert dataset.documents == ("wmt17:a", "wmt17:b", "wmt18:a")


def test_a_system_of_another_length_is_refused(home):
    (home / "sys.txt").write_text("x\n")
    message = refusal(read_testset, "wmt17", "de-en", systems=[home / "sys.txt"])
    assert "system 'sys': 1 lines, but wmt17 de-en has 2" in message


def test_the_variable_says_where_the_test_sets_are(tmp_path):
    lay(tmp_path, "wmt18", src="s\n", ref="r\n", docid="d\n")
    code = "from assay.io.datasets import read_testset; print(read_testset('wmt18', 'de-en'))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"SACREBLEU": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "references=(('r',),), sources=('s',), documents=('d',)" in run.stdout, run.stderr


def test_unknown_names_are_answered_with_known_ones():
    message = refusal(read_testset, "wmt2l", "de-en")
    assert "no test set 'wmt2l'" in message
    assert "did you mean 'wmt2" in message
    assert "Known: " in refusal(read_testset, "", "de-en")
    message = refusal(read_testset, "wmt21", "de-xx")
    assert "wmt21 has no language pair 'de-xx'. It has bn-hi, cs-en, de-en," in message


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "t.xml").write_text(XML)
    with tarfile.open(tmp_path / "t.tgz", "w:gz") as tar:
        tar.add(tmp_path / "t.xml", "t.xml")
    return tmp_path / "t.tgz"


def register(monkeypatch, home, kind=WMTXMLDataset, **options):
    testset = kind("mine", **options)
    testset._outdir, testset._rawdir = str(home / "mine"), str(home / "mine" / "raw")
    monkeypatch.setitem(DATASETS, "mine", testset)


@pytest.mark.filterwarnings("ignore:Python 3.14 will:DeprecationWarning")
def test_a_test_set_is_downloaded_when_first_used(home, archive, monkeypatch):
    md5 = hashlib.md5(archive.read_bytes()).hexdigest()
    options = {"langpairs": {"de-en": ["t.xml"]}, "refs": ["A", "B"], "md5": [md5]}
    register(monkeypatch, home, data=[archive.as_uri()], **options)
    dataset = read_testset("mine", "de-en")
    assert dataset.sources == ("Eins", "Zwei")
    assert {frozenset(each) for each in dataset.references} == {
        frozenset({"One", "1"}),
        frozenset({"Two", "2"}),
    }
    assert dataset.documents == ("d1", "d1")
    assert "differ in their number of references" in refusal(read_testset, "mine,wmt17", "de-en")


def test_a_failed_download_says_what_to_do(home, monkeypatch):
    nowhere = (home / "nothing.tgz").as_uri()
    register(monkeypatch, home, data=[nowhere], langpairs={"de-en": ["t.xml"]}, refs=["A"])
    message = refusal(read_testset, "mine", "de-en")
    assert "could not be fetched (<urlopen error" in message
    assert "sacrebleu -t mine -l de-en --echo src" in message


def test_a_damaged_download_says_what_to_do(home, archive, monkeypatch):
    options = {"langpairs": {"de-en": ["a", "b"]}, "data": [archive.as_uri()], "md5": ["0" * 32]}
    register(monkeypatch, home, FakeSGMLDataset, **options)
    assert "damaged download" in refusal(read_testset, "mine", "de-en")
