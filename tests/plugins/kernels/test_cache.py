"""Numba gets a cache where it has none, and one that nobody else can prepare."""

import os
import stat
from pathlib import Path

import pytest

from plugins import kernels


def test_a_private_folder_when_nothing_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernels, "_is_writable", lambda folder: False)
    kernels._find_a_cache()
    made = Path(os.environ["NUMBA_CACHE_DIR"])
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert made.stat().st_uid == os.geteuid()
    made.rmdir()


def test_the_usual_place_when_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernels._find_a_cache()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_what_is_writable(tmp_path: Path) -> None:
    assert kernels._is_writable(tmp_path / "new")
    assert not kernels._is_writable(Path("/sys/dens"))
