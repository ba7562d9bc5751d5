"""Checks of batteries, boards, faults and controls that need more than one value."""

from collections.abc import Iterator

from pydantic import ValidationError

from dens.config.problems import Problem, did_you_mean, likely_meant, listed
from dens.config.toml_positions import Path
from emulation.scenario.checks.run_end import check_moment
from emulation.scenario.controls import CHANGEABLE, ChangedRadio, changeable_in, control_path, is_key
from emulation.scenario.places import Places
from emulation.scenario.settings.faults import ClockSettings, ControlSettings, CrashSettings, FaultSettings
from emulation.scenario.settings.settings import RadioSettings, ScenarioSettings


def check_faults(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield all problems of these tables."""
    for index, group in enumerate(settings.group):
        tables = (("energy", group.energy, settings.energy), ("board", group.board, settings.board))
        for key, name, known in tables:
            if name is not None and name not in known:
                hint = f"{did_you_mean(name, list(known))} ({listed(list(known)) or 'the file has none'})"
                message = f'unknown {key} "{name}"{hint}'
                yield places.problem(("group", index, key), "D305", message, meant=likely_meant(name, known))
    for name, board in settings.board.items():
        if board.limits is not None and board.algorithm is not None:
            reason = board.limits.algorithm_fault(board.algorithm)
            if reason is not None:
                yield places.problem(("board", name, "algorithm"), "D700", reason)
    for index, fault in enumerate(settings.fault):
        yield from _fault(settings, fault, ("fault", index), places)
    seen: dict[tuple[str, int], int] = {}
    for index, control in enumerate(settings.control):
        yield from _control(settings, control, ("control", index), places)
        first = seen.setdefault((control.path, int(1000 * control.at_s)), index)
        if first != index:
            message = (
                f"control[{first}] gives {control.path} a value at the same moment; leave out one of them"
            )
            yield places.problem(("control", index), "D306", message)


def _fault(settings: ScenarioSettings, fault: FaultSettings, path: Path, places: Places) -> Iterator[Problem]:
    known = [group.name for group in settings.group]
    devices = {f"{group.name}-{n}" for group in settings.group for n in range(1, group.count + 1)}
    for position, name in enumerate(fault.who or ()):
        if name not in known and name not in devices:
            message = f'unknown group or device "{name}"{did_you_mean(name, known)} ({listed(known)}, or'
            meant = likely_meant(name, known)
            yield places.problem((*path, "who", position), "D305", f"{message} {known[0]}-1 …)", meant=meant)
    yield from check_moment(settings, places, (*path, "at_s"), fault.at_s)
    if isinstance(fault, CrashSettings | ClockSettings) and fault.at_s is None and fault.every_s is None:
        yield places.problem(path, "D303", "needs at_s (once) or every_s (repeatedly)")
    if isinstance(fault, CrashSettings) and fault.every_s is not None and fault.for_s is None:
        yield places.problem(path, "D303", "a crash with every_s needs for_s: how long devices stay down")


def _control(
    settings: ScenarioSettings, control: ControlSettings, path: Path, places: Places
) -> Iterator[Problem]:
    yield from check_moment(settings, places, (*path, "at_s"), control.at_s)
    changed = control_path(control.path)
    if changed is None:
        meant = () if is_key(settings, control.path) else likely_meant(control.path, changeable_in(settings))
        yield places.problem((*path, "path"), "D318", _fixed(settings, control.path), meant=meant)
    elif isinstance(changed, ChangedRadio):
        radio = settings.radio.get(changed.name)
        if radio is None:
            message = f'unknown radio "{changed.name}"{did_you_mean(changed.name, settings.radio)}'
            paths = [f"radio.{name}.{changed.key}" for name in likely_meant(changed.name, settings.radio)]
            yield places.problem((*path, "path"), "D305", message, meant=paths)
            return
        if changed.key == "range_m" and settings.contacts is not None:
            message = "contacts are recorded, so a range changes nothing; leave out one of them"
            yield places.problem((*path, "path"), "D312", message)
        try:
            RadioSettings.model_validate(radio.model_dump() | {changed.key: control.value})
        except ValidationError as error:
            message = f"invalid {changed.key} {control.value:g}: {error.errors()[0]['msg'].lower()}"
            yield places.problem((*path, "value"), "D302", message)
    elif changed.index >= len(settings.sensor):
        message = f"[{changed.index}] is out of range: there are {len(settings.sensor)} sensors"
        yield places.problem((*path, "path"), "D305", message)
    elif not 0.001 <= control.value <= 365 * 86_400:
        yield places.problem(
            (*path, "value"), "D302", "the interval of a sensor is between 0.001 s and a year"
        )


def _fixed(settings: ScenarioSettings, path: str) -> str:
    """Return why a key cannot change, and which can."""
    if is_key(settings, path):
        return f'"{path}" is fixed when a run begins (these can change: {listed(CHANGEABLE)})'
    hint = did_you_mean(path, changeable_in(settings))
    return f'this scenario has no key "{path}"{hint} (these can change: {listed(CHANGEABLE)})'
