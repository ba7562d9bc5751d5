"""Writes learnt terms into the text of a vocabulary without changing anything else."""

import tomllib
from collections.abc import Mapping
from typing import Any

from dens.config.toml_positions import locate
from knowledge_manager.vocabulary.reader import read_vocabulary
from spark_analysis.errors import LearningError
from spark_analysis.sweep.plan import toml_value


def term_lines(terms: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the terms as lines of a vocabulary."""
    return [f"terms.{name} = {toml_value(term)}" for name, term in terms.items()]


def with_terms(
    text: str, file: str, event: str, attribute: str, terms: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the vocabulary's text with these terms of an attribute added or replaced, and the version
    incremented.

    Comments, order and all other lines are kept. The result is read back and compared. Raises `LearningError`
    if the terms cannot be edited line by line.
    """
    document = tomllib.loads(text)
    path = _path(document, event, attribute)
    places = locate(text).places
    lines = text.splitlines()
    own = [line for at, (line, _) in places.items() if at[: len(path)] == path]
    gone = {places[(*path, "terms", name)][0] for name in terms if (*path, "terms", name) in places}
    first, last = min(own), max(own)
    indent = _indent(lines[first - 1])
    new = [indent + line for line in term_lines(terms)]
    kept = [line for number, line in enumerate(lines, start=1) if number not in gone and number <= last]
    rest = lines[last:]
    written = "\n".join([*kept, *new, *rest]) + "\n"
    written = _newer(written, document)
    _check(text, written, file, path, terms)
    return written


def _path(document: Mapping[str, Any], event: str, attribute: str) -> tuple[str | int, ...]:
    for i, of_event in enumerate(document.get("event", ())):
        if of_event["name"] == event:
            for j, of_attribute in enumerate(of_event.get("attribute", ())):
                if of_attribute["name"] == attribute:
                    return "event", i, "attribute", j
    raise LearningError(f"the vocabulary has no attribute {attribute} of {event}")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _newer(text: str, document: Mapping[str, Any]) -> str:
    """Increment the version, which is on its own line."""
    lines = text.splitlines()
    line, _ = locate(text).places[("version",)]
    lines[line - 1] = lines[line - 1].replace(str(document["version"]), str(document["version"] + 1), 1)
    return "\n".join(lines) + "\n"


def _check(
    before: str, after: str, file: str, path: tuple[str | int, ...], terms: Mapping[str, Mapping[str, Any]]
) -> None:
    """Verify that the text has the same meaning, with the new terms and version."""
    wanted = tomllib.loads(before)
    wanted["version"] += 1
    place: Any = wanted
    for step in path:
        place = place[step]
    place["terms"] = {**place.get("terms", {}), **terms}
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        found = {}
    if found != wanted:
        raise LearningError(
            f"{file}: the terms cannot be edited line by line; add these yourself:\n"
            + "\n".join(term_lines(terms))
        )
    read_vocabulary(after, file)
