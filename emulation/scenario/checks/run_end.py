"""Moments that a scenario names and its run never reaches.

A file whose own moments lie after its own end is wrong: somebody mistyped one of the two. Where the run was
made shorter from outside (`--set duration_s=3600`), or is done again from its folder, what lies after the end
simply does not happen, and that is told once, as a warning.
"""

from collections.abc import Iterator

from dens.config.problems import Problem
from dens.config.toml_positions import Path
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import ScenarioSettings


def check_moment(
    settings: ScenarioSettings, places: Places, path: Path, at_s: float | None
) -> Iterator[Problem]:
    """Yield a problem if the run ends before this moment of the key at `path` comes."""
    if at_s is None or at_s < settings.duration_s:
        return
    message = f"{at_s:g} s is not within the run of {settings.duration_s:g} s"
    if places.is_cut_short(path):
        yield places.warning(path, "D312", f"{message}, so it never comes")
    else:
        yield places.problem(
            path, "D312", f"{message}; name an earlier moment, or make duration_s longer than that"
        )
