"""Numba gets a cache where it has none, and one that no other user can prepare; what is in it is used only
while everything that was compiled into it is the same.
"""

import importlib.util
import os
import stat
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from plugins import kernels
from plugins.kernels.compiled import _compile

MODULE = """
import numpy as np
from collections import namedtuple

Pair = namedtuple("Pair", "a b")
WORK = 3

def called(x):
    return x + WORK

def direct(x, by=2):
    return x * by + WORK

def inside(x):
    return sum([each + WORK for each in range(x)])

def through(x):
    return called(x)

def least(x):
    return np.minimum(x, 3)
"""


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


def module_of(folder: Path, text: str = MODULE) -> ModuleType:
    path = folder / "drawn_kernel.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("drawn_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VALUES = [3, 4, True, 3.0, 2.5, (3, 4), (3, 5), (3, (4,)), b"\x03", b"\x04", "3", None]
ARRAYS = [np.array(values, kind) for values in ([1, 2], [1, 3], [[1, 2]]) for kind in (np.uint8, np.int16)]


@pytest.mark.parametrize("name", ["direct", "inside", "through"])
def test_another_value_of_a_global_is_another_digest(tmp_path: Path, name: str) -> None:
    """Whatever the kind of the value, and wherever the function reads it: itself, in a comprehension, or in a
    function that it calls.
    """
    digests = []
    for value in [*VALUES, *ARRAYS]:
        module = module_of(tmp_path)
        module.WORK = value
        digests.append(_compile(getattr(module, name))[1])
        assert _compile(getattr(module, name))[1] == digests[-1]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("least", "np.minimum", "np.maximum"),
        ("direct", "by=2", "by=3"),
        ("direct", "x * by", "x + by"),
        ("inside", "each + WORK", "each - WORK"),
        ("through", "return x + WORK", "return x - WORK"),
    ],
)
def test_another_text_is_another_digest(tmp_path: Path, name: str, old: str, new: str) -> None:
    assert old in MODULE
    before = _compile(getattr(module_of(tmp_path), name))[1]
    assert _compile(getattr(module_of(tmp_path), name))[1] == before
    assert _compile(getattr(module_of(tmp_path, MODULE.replace(old, new)), name))[1] != before


def test_a_number_of_a_module_and_the_fields_of_a_tuple_belong_to_the_digest(tmp_path: Path) -> None:
    text = MODULE + "def asks(x):\n    return Pair(x, other.WIDTH)\n"
    digests = set()
    for width, fields in ((3, "a b"), (4, "a b"), (3, "a c")):
        module = module_of(tmp_path, text.replace("a b", fields))
        module.other = ModuleType("other")
        module.other.WIDTH = width
        digests.add(_compile(module.asks)[1])
    assert len(digests) == 3


def test_a_global_that_cannot_be_described_is_refused(tmp_path: Path) -> None:
    module = module_of(tmp_path)
    module.WORK = {3: 4}
    with pytest.raises(TypeError, match="direct: WORK is a dict"):
        _compile(module.direct)
