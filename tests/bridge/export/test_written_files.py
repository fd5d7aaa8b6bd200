"""Files are written whole or not at all, and a refusal is one sentence."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.export.written_files import check_folder, check_writable, write_bytes, write_text
from symbolic.words.errors import UsageError


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "table.tex"
    write_text(path, "a bound ≤ 1\n")
    write_text(path, "another\n")
    assert path.read_text(encoding="utf-8") == "another\n"
    assert os.listdir(tmp_path) == ["table.tex"]


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _without_nameless_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)


def _without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", _full)


def _as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pass


SYSTEMS = pytest.mark.parametrize("system", [_as_it_is, _without_nameless_files, _without_links])


@SYSTEMS
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    system: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.tex"
    system(monkeypatch)
    write_text(path, "old")
    assert os.listdir(tmp_path) == ["table.tex"]
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(UsageError, match=r"cannot write '.*table\.tex': No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.tex"]


@SYSTEMS
def test_a_new_file_has_the_mode_of_any_other(
    system: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system(monkeypatch)
    write_text(tmp_path / "ours", "x")
    (tmp_path / "any").write_text("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_name_as_long_as_the_system_takes_is_written(tmp_path: Path) -> None:
    write_text(tmp_path / ("a" * 251 + ".tex"), "x")
    assert os.listdir(tmp_path) == ["a" * 251 + ".tex"]
    with pytest.raises(UsageError, match="File name too long; choose another path"):
        check_writable(tmp_path / ("a" * 300 + ".tex"))


def test_an_existing_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_writable(pipe)
        write_bytes(pipe, b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def _missing_folder(folder: Path) -> tuple[Path, str]:
    return folder / "no" / "table.tex", "there is no folder '.*no'; make it first"


def _is_folder(folder: Path) -> tuple[Path, str]:
    return folder, "it is a folder; choose another path"


def _below_a_file(folder: Path) -> tuple[Path, str]:
    (folder / "file").write_text("x")
    return folder / "file" / "table.tex", "Not a directory; choose another path"


def _kernel_refuses(folder: Path) -> tuple[Path, str]:
    return Path("/proc/table.tex"), "cannot write '/proc/table.tex': '/proc' takes no new files; choose another path"


@pytest.mark.parametrize("make", [_missing_folder, _is_folder, _below_a_file, _kernel_refuses])
def test_an_unwritable_path_is_refused_before_and_at_the_write(make: object, tmp_path: Path) -> None:
    path, message = make(tmp_path)  # type: ignore[operator]
    for refuse in (check_writable, lambda path: write_text(path, "x")):
        with pytest.raises(UsageError, match=message):
            refuse(path)


def test_a_write_protected_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.tex"
    path.write_text("precious")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write to everything
    with pytest.raises(UsageError, match="the file there is write-protected"):
        write_text(path, "new")
    assert path.read_text() == "precious"


def test_check_writable_leaves_no_trace(tmp_path: Path) -> None:
    check_writable(tmp_path / "table.tex")
    check_folder(tmp_path)
    check_folder(tmp_path / "witnesses")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_takes_no_files_is_not_called_missing() -> None:
    with pytest.raises(UsageError, match="'/proc' takes no new files"):
        check_folder("/proc/nope")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is a file where a folder is wanted"):
        check_folder(tmp_path / "file")
