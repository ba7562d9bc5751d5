"""Compiles plain functions, and the plain functions they call, with Numba: one text, two machines.

The integer arithmetic of `watchdog/` is written for boards. `compiled` compiles such a function unchanged, so
a matcher on a laptop computes the same bits as a board without a second implementation that could differ.
The result is cached on disk under a name with a digest of everything that was compiled into it: code,
defaults, and every global that it reads. Numba alone would not notice a change in a called function or in a
global.

Numba is imported by the first compilation. `announce` is called once before it, with a sentence for the user;
commands replace it.
"""

import hashlib
import types
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np


def _silently(_: str) -> None:
    return


announce: Callable[[str], None] = _silently
"""Called once before the first compilation, which takes some seconds."""

_ready: dict[Callable[..., Any], tuple[Any, str]] = {}


def is_available() -> bool:
    """Return whether this machine has Numba."""
    return find_spec("numba") is not None


def compiled(function: Callable[..., Any]) -> Any:
    """Return the compiled form of a function whose callees are plain functions, numbers or compiled
    already.
    """
    if not _ready:
        announce("preparing compiled code for matching; the first time takes some seconds")
    return _compiled(function)[0]


def _compiled(function: Callable[..., Any]) -> tuple[Any, str]:
    if function not in _ready:
        _ready[function] = _compile(function)
    return _ready[function]


def _compile(function: Callable[..., Any]) -> tuple[Any, str]:
    from numba import njit

    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r} is not a plain function")
    code = function.__code__
    names = dict(function.__globals__)
    digest = hashlib.sha256(repr(function.__defaults__).encode())
    for part in _codes(code):
        plain = [const for const in part.co_consts if not isinstance(const, types.CodeType)]
        digest.update(part.co_code + part.co_exceptiontable)
        digest.update(repr((plain, part.co_names, part.co_varnames, part.co_freevars)).encode())
    called = list(dict.fromkeys(name for part in _codes(code) for name in part.co_names))
    for name in called:
        if name in names:
            value = names[name]
            if isinstance(value, types.FunctionType):
                names[name] = _compiled(value)[0]
            digest.update(
                f"{name}=".encode() + _value_bytes(value, called, f"{function.__qualname__}: {name}")
            )
    copy = types.FunctionType(code, names, function.__name__, function.__defaults__)
    copy.__qualname__ = f"{function.__qualname__}_{digest.hexdigest()[:12]}"
    copy.__module__ = function.__module__
    return njit(cache=True)(copy), digest.hexdigest()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function and of the comprehensions and functions inside of it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def _value_bytes(value: object, called: Sequence[str], place: str) -> bytes:
    """Return bytes that differ where a global's value does. A kind of value for which they cannot be made
    raises TypeError: a cache that missed it would be used after a change.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return f"{type(value).__name__} {value!r};".encode()
    if isinstance(value, tuple):
        inner = b"".join(_value_bytes(one, called, place) for one in value)
        return f"{type(value).__name__} {len(value)} ".encode() + inner
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} ".encode() + value.tobytes()
    if isinstance(value, types.FunctionType):
        return _compiled(value)[1].encode()
    if isinstance(definition := getattr(value, "_defn", None), types.FunctionType):
        # an intrinsic: whatever its file says goes into the code
        return Path(definition.__code__.co_filename).read_bytes()
    if isinstance(value, types.ModuleType):
        # its numbers, where the function may read them; what else it has is known by its version
        read = [name for name in called if isinstance(getattr(value, name, None), bool | int | float)]
        version = getattr(value, "__version__", "")
        return repr((value.__name__, version, [(name, getattr(value, name)) for name in read])).encode()
    if isinstance(value, type):
        return repr((value.__module__, value.__qualname__, getattr(value, "_fields", ()))).encode()
    raise TypeError(
        f"{place} is a {type(value).__name__}; compiled code may read numbers, texts, tuples, arrays, "
        "modules, types and plain functions"
    )
