"""Reads TOML files into pydantic models, and turns whatever is wrong into `Problem`s with places.

A misspelt key, a missing one and a bad value are each reported at their line with the path of the key; a
model may also raise `PydanticCustomError("D203", "…")` in a validator, and then that code is reported as it
stands.
"""

import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dens.config.problems import DocumentError, Fix, Problem, did_you_mean, likely_meant, nearest
from dens.config.reading import place_of
from dens.config.toml_positions import Path, TomlPositions, locate

Model = TypeVar("Model", bound=BaseModel)

_OWN_CODE = re.compile(r"D\d{3}")
_BARE_KEY = re.compile(r"\s*\[{0,2}(?P<before>(?:[\w\-]+\.)*?)(?P<odd>[\w\-]*[^\W\d_a-zA-Z][\w\-]*)\s*[.=\]]")
"""The first part of a key that has letters which a bare key cannot have."""
_IN_PLAIN_WORDS = {
    "tuple_type": "a list is wanted",
    "list_type": "a list is wanted",
    "dict_type": "a table is wanted",
    "model_type": "a table is wanted",
    "model_attributes_type": "a table is wanted",
    "string_type": "a text is wanted",
}
"""What a person calls what pydantic calls by the names of Python's types."""


@dataclass(frozen=True, slots=True)
class SchemaCodes:
    """The codes under which one kind of file reports what its schema finds."""

    unknown_key: str
    missing_key: str
    bad_value: str


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Return the document, numbers with a point as exact `Decimal`s; bad syntax raises `DocumentError`."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        line, column, reason = _syntax_place(str(error), text)
        reason += _quoting_hint(text, line, column)
        raise DocumentError(
            [Problem(file, line, column, "error", "D005", f"this is not TOML: {reason}")]
        ) from None
    except (RecursionError, ValueError):
        raise DocumentError.of_file(
            file, "D005", "this is not TOML: nested too deeply, or a number is too long"
        ) from None


def read_model(text: str, file: str, model: type[Model], codes: SchemaCodes) -> tuple[Model, TomlPositions]:
    """Return the validated model and the places of its keys, or raise `DocumentError` with every problem."""
    read, positions, problems = read_past_unknown_keys(text, file, model, codes)
    if problems:
        raise DocumentError(problems)
    return read, positions


def read_past_unknown_keys(
    text: str, file: str, model: type[Model], codes: SchemaCodes
) -> tuple[Model, TomlPositions, list[Problem]]:
    """Return the model as if misspelt keys were spelt as they were meant, with a problem for each of them.

    So a misspelling hides nothing else that is wrong, and is not also reported as a missing key. A file that
    is wrong beyond that raises `DocumentError` with every problem.
    """
    content = parse_toml(text, file)
    positions = locate(text)
    unknown: list[Problem] = []
    try:
        return model.model_validate(content), positions, unknown
    except ValidationError as error:
        details = [one for one in error.errors() if one["type"] == "extra_forbidden"]
        unknown = [_problem(one, positions, file, codes, model) for one in details]
    for one in details:
        _mend_key(content, positions, tuple(one["loc"]), model)
    try:
        return model.model_validate(content), positions, unknown
    except ValidationError as error:
        rest = [problem for _, problem in problems_from_pydantic(error, positions, file, codes, model)]
        raise DocumentError(
            sorted([*unknown, *rest], key=lambda problem: (problem.line, problem.column))
        ) from None


def _mend_key(content: dict[str, Any], positions: TomlPositions, path: Path, model: type[BaseModel]) -> None:
    """Rename an unknown key to the one that was likely meant, unless that stands there too; else drop it."""
    table: Any = content
    reached: Path = ()
    for element in path[:-1]:
        if (*reached, element) in positions.places:  # validators also name alternatives that they tried
            table = table[element]
            reached = (*reached, element)
    key = path[-1]
    value = table.pop(key)
    meant = nearest(str(key), keys_at(model, path[:-1]))
    if meant is not None and meant not in table:
        table[meant] = value
        positions.rename((*reached, key), (*reached, meant))


def problems_from_pydantic(
    error: ValidationError, positions: TomlPositions, file: str, codes: SchemaCodes, model: type[BaseModel]
) -> list[tuple[Path, Problem]]:
    """Return one problem per finding of pydantic, with the path and position of its key.

    A list that is too short only because its entries are invalid is not reported as well.
    """
    found = error.errors()
    return [
        (tuple(details["loc"]), _problem(details, positions, file, codes, model))
        for details in found
        if details["type"] != "too_short" or not _has_more_inside(details, found)
    ]


def _has_more_inside(details: ErrorDetails, found: list[ErrorDetails]) -> bool:
    path = details["loc"]
    return any(len(one["loc"]) > len(path) and one["loc"][: len(path)] == path for one in found)


def key_path(path: Path) -> str:
    """Return the path as a person writes it: `event[0].attribute[2].unit`."""
    text = "".join(f"[{element}]" if isinstance(element, int) else f".{element}" for element in path)
    return text.removeprefix(".")


def keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """Return the keys that the model allows in the table at this path."""
    models: list[type[BaseModel]] = [model]
    for element in path:
        if isinstance(element, int):
            continue
        inner = [
            reached
            for candidate in models
            for name, field in candidate.model_fields.items()
            if element in (name, field.alias)
            for reached in _models_in(field.annotation)
        ]
        models = inner or models
    return [field.alias or name for candidate in models for name, field in candidate.model_fields.items()]


def _problem(
    details: ErrorDetails, positions: TomlPositions, file: str, codes: SchemaCodes, model: type[BaseModel]
) -> Problem:
    path: Path = tuple(details["loc"])
    known = positions.known_part(path)
    line, column = positions.at(known)
    kind = details["type"]
    where = key_path(known)

    def problem(code: str, message: str, fixes: tuple[Fix, ...] = ()) -> Problem:
        return Problem(file, line, column, "error", code, message, positions.span(known), fixes)

    if kind == "extra_forbidden":
        key = str(path[-1])
        allowed = keys_at(model, path[:-1])
        named = known if known[-1:] == path[-1:] else (*known, key)
        hint = " here; another kind of this table has it" if key in allowed else did_you_mean(key, allowed)
        message = f'key "{key_path(named)}" is unknown{hint}'
        meant = () if key in allowed else likely_meant(key, allowed)
        return problem(codes.unknown_key, message, positions.renamed(named, meant))
    if kind == "missing":
        inside = f" in {where}" if where else ""
        message = f'key "{path[-1]}" is missing{inside}'
        return problem(codes.missing_key, message)
    code = kind if _OWN_CODE.fullmatch(kind) else codes.bad_value
    message = _IN_PLAIN_WORDS.get(kind, details["msg"])
    if code == codes.bad_value:
        message = message[:1].lower() + message[1:]
    return problem(
        code, f"{where}: {message}" if where else message, _replacements(details, positions, known)
    )


def _replacements(details: ErrorDetails, positions: TomlPositions, known: Path) -> tuple[Fix, ...]:
    """Return what a validator would have written: it names it as `meant` among what belongs to its error, and
    as `meant_at` the key of the table that it stands at, where it judged a whole table."""
    context = details.get("ctx", {})
    meant, key = context.get("meant", ()), context.get("meant_at")
    return positions.replaced(known if key is None else (*known, key), meant)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]


def _quoting_hint(text: str, line: int, column: int) -> str:
    """Return what to do about a key in letters that TOML knows only in quotes, nothing for all else."""
    lines = text.splitlines()
    found = _BARE_KEY.match(lines[line - 1] if line <= len(lines) else "")
    if found is None or found["odd"].isascii() or column > found.end() + 1:
        return ""
    return f'; letters other than a to z stand in quotes in a key: {found["before"]}"{found["odd"]}"'


def _syntax_place(message: str, text: str) -> tuple[int, int, str]:
    """Take apart tomllib's `… (at line 3, column 7)`; in Python 3.11 the place stands only in the message."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if found is None:
        return 1, 1, message
    reason = message[: found.start()]
    if found[1] is None:
        line, column = place_of(text, len(text))
        return line, column, reason
    return int(found[1]), int(found[2]), reason
