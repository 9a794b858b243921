"""Files that are written together: all of them, or none."""

from pathlib import Path

import pytest

from assay.data import DataError
from assay.io.files import write_all

FILES = {"one.txt": "1\n", "in/two.txt": b"2\n", "in/deeper/three.txt": "3\n"}


def names(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("home", ["new", "new/deep/er", "there"])
def test_all_files_are_written(tmp_path, home):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "one.txt").write_text("old")
    (tmp_path / "there" / "kept.txt").write_text("kept")
    folder = tmp_path / home
    assert write_all(folder, FILES) == [folder / name for name in FILES]
    assert [(folder / name).read_text() for name in FILES] == ["1\n", "2\n", "3\n"]
    kept = ["kept.txt"] if home == "there" else []
    assert names(folder) == sorted([*FILES, *kept])
    assert not list(tmp_path.rglob(".*"))


def test_a_link_to_a_folder_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_all(tmp_path / "link", FILES)
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "real") == sorted(FILES)


@pytest.mark.parametrize("home", ["new/deep", "there"])
def test_what_cannot_be_written_leaves_nothing(tmp_path, home):
    (tmp_path / "there" / "in" / "two.txt").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    bad = {**FILES, "half.txt": "\ud800"} if home != "there" else FILES
    with pytest.raises(DataError) as caught:
        write_all(tmp_path / home, bad)
    assert str(tmp_path / home) in str(caught.value)
    assert ".tmp" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_interruption_while_files_are_moved_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    replace, moved = Path.replace, []

    def interrupted(self, target):
        if "three" in str(target) and ".tmp" not in str(target):
            raise KeyboardInterrupt
        moved.append(target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_all(tmp_path / "there", FILES)
    assert tmp_path / "there" / "in" / "two.txt" in moved
    assert list((tmp_path / "there").rglob("*")) == []


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "taken").write_text("x")
    with pytest.raises(DataError, match="this folder cannot be made"):
        write_all(tmp_path / "taken", FILES)
    assert names(tmp_path) == ["taken"]
