"""Reads the interests of a recording's participants: matrices of zeros and ones.

The matrices are in SocialBlueConn's format: a line with the category, a line `ID A1 A2 …`, then a line for
each participant. A participant who likes A1 subscribes to the events whose attribute is `A1`.
"""

from collections.abc import Iterator
from pathlib import Path

from dens.config.problems import DocumentError, did_you_mean
from dens.overlay.wire.item import lifetime_code_ms
from emulation.interests import PlannedInterests
from emulation.recordings.lines import Lines
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
from emulation.scenario.populations import MOST_SUBSCRIPTIONS, generator_named, numbers_used
from emulation.scenario.settings.settings import InterestsSettings, ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, UnknownName

MATRICES = "Interest_Macrocategory*.txt"


def plan_interests(
    settings: ScenarioSettings, files: NamedFiles, table: MissionTable, places: Places
) -> PlannedInterests | None:
    """Return the interests of a scenario, or None if it has none; raise `DocumentError` for problems."""
    wanted = settings.interests
    if wanted is None:
        return None
    try:
        event = table.event(wanted.event)
    except UnknownName as error:
        raise DocumentError(
            [places.problem(("interests", "event"), "D308", str(error), meant=error.meant)]
        ) from None
    try:
        attribute = event.attribute(wanted.attribute)
    except UnknownName as error:
        raise DocumentError(
            [places.problem(("interests", "attribute"), "D308", str(error), meant=error.meant)]
        ) from None
    if attribute.type != "nominal":
        message = f'"{attribute.name}" is not nominal: it has no list of values to like'
        raise DocumentError([places.problem(("interests", "attribute"), "D308", message)])
    liked = None if wanted.number is not None else _liked(wanted, attribute, files, places)
    most = numbers_used(settings, wanted.group) + (wanted.number or max(map(len, liked or ((),))))
    if most > MOST_SUBSCRIPTIONS:
        message = f"a participant would have {most} subscriptions; the limit is {MOST_SUBSCRIPTIONS}"
        raise DocumentError([places.problem(("interests",), "D312", message)])
    language, generator = generator_named(wanted.language, ("interests", "language"), places)
    return PlannedInterests(
        wanted.group,
        language,
        generator,
        table,
        event,
        attribute,
        liked,
        wanted.number or 0,
        lifetime_code_ms(int(1000 * settings.duration_s) + 1),
    )


def _liked(
    wanted: InterestsSettings, attribute: Attribute, files: NamedFiles, places: Places
) -> tuple[tuple[int, ...], ...]:
    likes: dict[int, list[int]] = {}
    key = ("interests", "folder")
    names = files.inside(wanted.folder or "", MATRICES)
    if not names:
        message = f'"{wanted.folder}" has no file {MATRICES}. {wanted.obtain}'
        raise DocumentError([places.problem(key, "D320", message.strip())])
    for name in names:
        for person, values in _matrix(files.path(name, key, places), attribute):
            likes.setdefault(person, []).extend(values)
    return tuple(tuple(sorted(likes[person])) for person in sorted(likes))


def _matrix(path: Path, attribute: Attribute) -> Iterator[tuple[int, list[int]]]:
    lines = Lines(path)
    values: list[int] | None = None
    for line in lines:
        if values is None:
            if line.words[0] == "ID":
                for word in line.words[1:]:
                    if word not in attribute.values:
                        hint = did_you_mean(word, attribute.values)
                        lines.complain(line.number, "D319", f'unknown {attribute.name} "{word}"{hint}')
                lines.refuse_if_wrong()
                values = [attribute.values.index(word) for word in line.words[1:]]
            continue
        if len(line.words) != len(values) + 1 or not line.words[0].isdecimal():
            lines.complain(line.number, "D319", f"expected a participant and {len(values)} times 0 or 1")
        elif not {*line.words[1:]} <= {"0", "1"}:
            lines.complain(line.number, "D319", "a value is neither 0 nor 1")
        else:
            liked = [value for value, is_liked in zip(values, line.words[1:], strict=True) if is_liked == "1"]
            yield int(line.words[0]), liked
    if values is None:
        lines.complain(1, "D319", 'the line "ID …" with the names of the values is missing')
    lines.refuse_if_wrong()
