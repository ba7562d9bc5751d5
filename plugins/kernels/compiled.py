"""Compiles plain functions, and the plain functions they call, with Numba: one text, two machines.

The integer arithmetic of `watchdog/` is written for boards. `compiled` takes such a function as it stands
and gives back machine code of it, so a matcher on a laptop computes the same bits as a board without a
second implementation that could differ. The result is cached on disk under a name that carries a digest of
everything that was compiled into it; Numba alone would not notice a change in a function that is called.

Nothing here is imported before compiled code is wanted. `announce` is called once, with a sentence for a
person, before the first compilation; whoever talks to people may replace it.
"""

import hashlib
import types
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def _silently(_: str) -> None:
    return


announce: Callable[[str], None] = _silently
"""Told once that compiled code is being prepared, which takes some seconds the first time."""

_ready: dict[Callable[..., Any], tuple[Any, str]] = {}


def is_available() -> bool:
    """Tell whether this machine has Numba."""
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
    digest = hashlib.sha256(code.co_code + repr(code.co_consts).encode())
    names = dict(function.__globals__)
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, types.FunctionType):
            names[name], of_callee = _compiled(value)
            digest.update(of_callee.encode())
        elif isinstance(value, int):
            digest.update(f"{name}={value}".encode())
        elif isinstance(definition := getattr(value, "_defn", None), types.FunctionType):
            # an intrinsic: whatever its file says goes into the code
            digest.update(Path(definition.__code__.co_filename).read_bytes())
    copy = types.FunctionType(code, names, function.__name__, function.__defaults__)
    copy.__qualname__ = f"{function.__qualname__}_{digest.hexdigest()[:12]}"
    copy.__module__ = function.__module__
    return njit(cache=True)(copy), digest.hexdigest()
