import gzip
import hashlib
import io
import lzma
import os
import re
import resource
import stat
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.io import digest, read_lines, system_name, write_lines, write_whole

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LINE = TEXT.map(lambda text: text.replace("\n", " ")).filter(lambda text: not text.endswith("\r"))


def save(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(function, *arguments, **options):
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@contextmanager
def ordinary_user():
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\0"])
def test_only_a_newline_ends_a_line(tmp_path, mark):
    path = save(tmp_path / "a.txt", f"one{mark}two\nthree\n")
    assert read_lines(path) == (f"one{mark}two", "three")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a\nb\n", ("a", "b")),
        ("a\nb", ("a", "b")),
        ("a\r\nb\r\n", ("a", "b")),
        ("a\r\r\nb\r", ("a\r", "b\r")),
        ("\n", ("",)),
        ("\n\na\n\n", ("", "", "a", "")),
        ("\ufeffa\n\ufeffb\n", ("a", "\ufeffb")),
        ("\ufeff\ufeffa", ("\ufeffa",)),
    ],
)
def test_lines_are_what_stands_between_newlines(tmp_path, content, lines):
    assert read_lines(str(save(tmp_path / "a.txt", content))) == lines


@given(lines=st.lists(LINE, min_size=1), ending=st.sampled_from(["", ".gz", ".xz"]))
def test_written_lines_read_back_the_same(tmp_path_factory, lines, ending):
    path = tmp_path_factory.mktemp("lines") / f"a.txt{ending}"
    write_lines(lines, path)
    assert read_lines(path) == tuple(lines)


@given(TEXT.filter(lambda text: text.removeprefix("\ufeff")))
def test_reading_equals_python_reading_with_newline_off(tmp_path_factory, text):
    path = save(tmp_path_factory.mktemp("lines") / "a.txt", text)
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        slow = [re.sub("\r?\n$", "", line) if line.endswith("\n") else line for line in file]
    assert list(read_lines(path)) == slow


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_files_are_unpacked_by_their_name(tmp_path, pack):
    ending = ".gz" if pack is gzip.compress else ".XZ"
    assert read_lines(save(tmp_path / f"a.txt{ending}", pack(b"x\ny\n"))) == ("x", "y")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gz", b"plain text"),
        ("a.gz", gzip.compress(b"hello" * 99, mtime=0)[:-9]),
        ("a.gz", gzip.compress(b"hello" * 99, mtime=0)[:12] + b"\xff" * 20),
        ("a.xz", b"plain text"),
        ("a.xz", lzma.compress(b"hello" * 99)[:-9]),
    ],
)
def test_a_damaged_archive_is_refused_with_a_remedy(tmp_path, name, content):
    message = refusal(read_lines, save(tmp_path / name, content))
    assert message.startswith(f"{tmp_path / name}: damaged")
    assert "rename it" in message


def test_bad_utf8_names_file_line_and_byte(tmp_path):
    path = save(tmp_path / "sys.txt", b"one\ntwo\n0123456789abcdef\xff\nlast\n")
    assert refusal(read_lines, path) == (
        f"{path}, line 3, byte 17: not UTF-8 (0xff). "
        "Convert the file: iconv -f latin1 -t utf-8 OLD > NEW"
    )


def test_bad_utf8_on_the_first_line_counts_bytes_from_one(tmp_path):
    assert "line 1, byte 1: not UTF-8 (0xe9)" in refusal(
        read_lines, save(tmp_path / "a", b"\xe9t\xe9\n")
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_recognised_by_its_mark(tmp_path, encoding):
    data = ("" if encoding == "utf-16" else "\ufeff").encode(encoding) + "hello\n".encode(encoding)
    assert "iconv -f utf-16" in refusal(read_lines, save(tmp_path / "a.txt", data))


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = save(tmp_path / "x.txt", content)
    assert refusal(read_lines, path).startswith(f"{path} is empty")


def test_a_missing_file_suggests_the_nearest_name(tmp_path):
    save(tmp_path / "newstest.txt", "a")
    assert "did you mean 'newstest.txt'?" in refusal(read_lines, tmp_path / "newtest.txt")
    assert "nor does its folder" in refusal(read_lines, tmp_path / "no" / "newtest.txt")
    assert "nor does its folder" in refusal(read_lines, tmp_path / "newstest.txt" / "a")


def test_folders_devices_and_impossible_names_are_refused(tmp_path):
    assert "is a folder" in refusal(read_lines, tmp_path)
    assert "is a folder" in refusal(read_lines, "")
    assert "neither a file nor a pipe" in refusal(read_lines, "/dev/zero")
    assert "cannot be read" in refusal(read_lines, "a\0b")
    assert "cannot be read" in refusal(read_lines, "x" * 5000)


def test_a_file_one_may_not_read_is_refused(tmp_path):
    path = save(tmp_path / "a.txt", "secret")
    path.chmod(0)
    with ordinary_user():
        assert "may not be read by you" in refusal(read_lines, path)


def test_a_dash_is_standard_input_and_its_digest_is_known_afterwards(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\r\nb\xe2\x80\xa8\n")))
    assert read_lines("-") == ("a", "b\u2028")
    assert digest("-") == hashlib.sha256(b"a\r\nb\xe2\x80\xa8\n").hexdigest()


def test_closed_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in refusal(read_lines, "-")


def test_a_pipe_is_read_once_and_its_digest_remembered(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert "only once" in refusal(digest, path)
    writer = threading.Thread(target=path.write_bytes, args=(b"through\n",))
    writer.start()
    assert read_lines(path) == ("through",)
    writer.join()
    assert digest(path) == hashlib.sha256(b"through\n").hexdigest()


def test_the_digest_is_that_of_the_raw_bytes(tmp_path):
    path = save(tmp_path / "a.gz", gzip.compress(b"x"))
    assert digest(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "does not exist" in refusal(digest, tmp_path / "b")


def test_a_million_lines_are_read(tmp_path):
    path = save(tmp_path / "big.txt", "A sentence of the usual length, more or less.\n" * 1_000_000)
    assert len(read_lines(path)) == 1_000_000


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("systems/RWTH.5636.txt", "RWTH.5636"),
        (Path("a.txt.gz"), "a"),
        ("a.txt.txt", "a"),
        ("a.tsv.xz", "a.tsv"),
        ("online-A.0", "online-A.0"),
        ("x/.txt", ".txt"),
        ("-", "stdin"),
    ],
)
def test_a_system_is_named_after_its_file(path, name):
    assert system_name(path) == name


def test_a_file_name_that_is_not_utf8_is_refused():
    assert "not UTF-8" in refusal(system_name, os.fsdecode(b"sys\xff.txt"))


@pytest.mark.parametrize("line", ["a\nb", "a\r", "\ud800"])
def test_lines_that_would_not_read_back_are_refused(tmp_path, line):
    assert "a.txt" in refusal(write_lines, ["fine", line], tmp_path / "a.txt")
    assert "no lines" in refusal(write_lines, [], tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = save(tmp_path / "a.txt", "old")
    path.chmod(0o604)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path):
    target = save(tmp_path / "target.txt", "old")
    (tmp_path / "link.txt").symlink_to(target)
    write_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert target.read_text() == "new"


def test_packing_gives_the_same_bytes_every_time(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_whole(tmp_path / name, "text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text"


@contextmanager
def small_disk(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = save(tmp_path / "a.txt", "old")
    with small_disk(10_000):
        message = refusal(write_whole, path, "x" * 50_000)
    assert message.endswith("cannot be written (File too large).")
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "old"


def test_a_place_that_cannot_be_written_is_refused_with_a_remedy(tmp_path):
    assert "mkdir -p" in refusal(write_whole, tmp_path / "no" / "a.txt", "x")
    assert "is a folder" in refusal(write_whole, tmp_path, "x")
    save(tmp_path / "file", "x")
    assert "cannot be written" in refusal(write_whole, tmp_path / "file" / "a", "x")
    assert "cannot be written" in refusal(write_whole, "a\0b", "x")
    assert "half a character" in refusal(write_whole, tmp_path / "a", "x\n\udc80")
    tmp_path.chmod(0o500)
    with ordinary_user():
        assert "may not write" in refusal(write_whole, tmp_path / "a.txt", "x")
    tmp_path.chmod(0o700)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_devices_and_pipes_are_written_to_and_never_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write_whole(path, "through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    write_whole("/dev/null", "gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_dash_is_standard_output(capfdbinary):
    write_whole("-", "a\u2028\r\n")
    assert capfdbinary.readouterr().out == "a\u2028\r\n".encode()
