"""Files that the user names: read whole, or refused in one sentence, without waiting and without filling the memory."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from bridge.limits import files
from bridge.limits.files import ShippedFiles, read_bytes, read_text
from symbolic import UsageError


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    content = os.urandom(3 * files.CHUNK + 17)
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_bytes(str(tmp_path / "a"), "test") == content
    assert read_bytes(str(tmp_path / "link"), "test") == content
    assert read_bytes(str(tmp_path / "a"), "test", most=len(content)) == content


@pytest.fixture
def pipe(tmp_path: Path) -> str:
    os.mkfifo(tmp_path / "pipe")
    return str(tmp_path / "pipe")


def test_a_pipe_is_refused_without_waiting_for_a_writer(pipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"test: '.*/pipe' is a device or a pipe; name a regular file"):
        read_bytes(pipe, "test")
    seen: list[Any] = []

    def first_time(found: os.stat_result, *rest: Any) -> None:  # a file until it is opened
        if seen:
            require(found, *rest)
        seen.append(found)

    require = files._require_file
    monkeypatch.setattr(files, "_require_file", first_time)
    with pytest.raises(UsageError, match="is a device or a pipe"):
        read_bytes(pipe, "test")
    assert len(seen) == 1


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/full"])
def test_devices_are_refused(path: str) -> None:
    with pytest.raises(UsageError, match=f"test: '{path}' is a device or a pipe; name a regular file"):
        read_bytes(path, "test")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(UsageError, match=f"has {10 << 30} bytes; at most {files.MOST_BYTES} are read"):
        read_bytes(str(tmp_path / "sparse"), "test")
    (tmp_path / "small").write_bytes(b"12345")
    with pytest.raises(UsageError, match="has 5 bytes; at most 4 are read"):
        read_bytes(str(tmp_path / "small"), "test", most=4)


def test_a_file_that_grows_is_read_up_to_the_limit() -> None:
    given: list[int] = []

    def read(size: int) -> bytes:
        given.append(size)
        return bytes(size)

    with pytest.raises(UsageError, match="'log' has more than 3000000 bytes"):
        files._read(read, "log", "test", 3_000_000)
    assert sum(given) <= 3_000_000 + files.CHUNK


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "there is no file 'missing'"),
        (".", "'.' is a folder; name a file"),
        ("a\0b", re.escape(r"'a\x00b' is not a path")),
        ("x" * 5000, "cannot read"),
    ],
)
def test_what_is_no_file_is_refused(name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        read_bytes(name, "test")


def test_a_text_is_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf\xc3\xa9")
    assert read_text(str(tmp_path / "a"), "test") == "é"
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="is not a UTF-8 text file"):
        read_text(str(tmp_path / "a"), "test")


def test_shipped_files_have_names_without_their_suffix(tmp_path: Path) -> None:
    for name in ("b.txt", "a.dat", "c.other"):
        (tmp_path / name).write_text(name)
    shipped = ShippedFiles(tmp_path, (".txt", ".dat"))
    assert shipped.names() == ("a", "b")
    assert read_text(shipped.path("a"), "test") == "a.dat"
    assert [shipped.path(name) for name in ("c", "a.dat", str(tmp_path / "a.dat"), "", "nul\0")] == [None] * 5
