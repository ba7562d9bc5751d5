"""Changes to a scenario's keys from outside of its file: `group[0].count=20`, `radio.handheld.loss=0.1`.

The left side is the path of a key as problems show it, the right side a value as it stands in TOML; a right
side that is no TOML value is taken as a text, so `overlay.policy=prophet` needs no quotes. A key that the
file leaves out is added; a table on the way to it is made. What the value means is checked like everything
else in the file.
"""

import re
import tomllib
from decimal import Decimal
from typing import Any, Final

from knowledge_manager.documents import DocumentError

_STEP: Final = re.compile(r"\.?([A-Za-z0-9_-]+)|\[(\d+)\]")


def apply_change(document: dict[str, Any], change: str, file: str) -> None:
    """Change one key of a document that was read from TOML; a change that cannot be raises
    `DocumentError`."""
    left, found, right = change.partition("=")
    steps = _steps(left.strip())
    if not found or not steps or isinstance(steps[0], int):
        raise _refusal(file, change, "is not of the form path=value, such as group[0].count=20")
    inside: Any = document
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, int):
            if not isinstance(inside, list) or step >= len(inside):
                amount = len(inside) if isinstance(inside, list) else 0
                raise _refusal(file, change, f"there is no [{step}] of {amount} in the file")
        elif not isinstance(inside, dict):
            raise _refusal(file, change, f'"{step}" is no key of a table')
        if following is None:
            inside[step] = _value(right.strip())
        elif isinstance(step, str):
            inside = inside.setdefault(step, {})
        else:
            inside = inside[step]


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None or (position == 0 and path.startswith(".")):
            return []
        steps.append(found[1] if found[1] is not None else int(found[2]))
        position = found.end()
    return steps


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}", parse_float=Decimal)["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def _refusal(file: str, change: str, reason: str) -> DocumentError:
    return DocumentError.of_file(file, "D302", f'"{change}": {reason}')
