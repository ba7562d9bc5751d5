"""Checks times of a scenario that lie after the end of the run.

In the file itself this is an error: one of both is mistyped. If the run was shortened from outside (`--set
duration_s=3600`), or is repeated from its folder, such events do not happen, and there is a warning.
"""

from collections.abc import Iterator

from dens.config.problems import Problem
from dens.config.toml_positions import Path
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import ScenarioSettings


def check_moment(
    settings: ScenarioSettings, places: Places, path: Path, at_s: float | None
) -> Iterator[Problem]:
    """Yield a problem if the time of the key at `path` is not within the run."""
    if at_s is None or at_s < settings.duration_s:
        return
    message = f"{at_s:g} s is not within the run of {settings.duration_s:g} s"
    if places.is_cut_short(path):
        yield places.warning(path, "D312", f"{message}, so it never happens")
    else:
        yield places.problem(path, "D312", f"{message}; use an earlier time, or a longer duration_s")
