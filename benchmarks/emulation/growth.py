"""What the emulator costs with more devices: CPU, memory and frames at the density of `one_c`, for an hour.

The area grows with the devices, so that each meets as many as before; the traffic stays a message every half
minute. By default up to 2,000 devices; `make bench ONLY=emulation_growth LARGEST=10000` takes some ten CPU
minutes more. The curve is drawn to .build/emulation_growth.svg; the copy in docs/ shows one such run.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.emulation.one import OURS
from benchmarks.engine_forms import COMPILED, PURE, ROOT, forms
from benchmarks.measurement import Measurement, alone, at_most
from benchmarks.sizes import sized

DEVICES: Final = sized((250, 500, 1_000, 2_000, 5_000, 10_000), (20, 40))
WIDTH_M, HEIGHT_M, AT_DEVICES = 4500.0, 3400.0, 1_000
LONGEST_CPU_S: Final = 600.0
MOST_MB: Final = 2048.0


def measure() -> Iterator[Measurement]:
    """Measure the forms of the present text at every size; draw the best form."""
    largest = int(os.environ.get("DENS_BENCH_LARGEST") or 2_000)
    duration_s = int(os.environ.get("DENS_BENCH_GROWTH_S") or sized(3_600, 300))
    sizes = [devices for devices in DEVICES if devices <= largest]
    for form in forms():
        if form.name not in (PURE, COMPILED):
            continue
        runs: dict[int, Any] = {}
        for devices in sizes:
            with tempfile.TemporaryDirectory() as folder:
                runs[devices] = form.run(
                    OURS, f"{folder}/run", "one_c", *_changes(devices), f"duration_s={duration_s}"
                )
        draw(runs, ROOT / ".build" / "emulation_growth.svg")
        yield from _judged(form.name, runs)


def _changes(devices: int) -> list[str]:
    side = (devices / AT_DEVICES) ** 0.5
    area = [f"area.width_m={WIDTH_M * side:.0f}", f"area.height_m={HEIGHT_M * side:.0f}"]
    return [*area, f"group.hosts.count={devices}"]


def _judged(form: str, runs: dict[int, Any]) -> Iterator[Measurement]:
    smallest, largest = min(runs), max(runs)
    us = {devices: 1e6 * run["cpu_s"] / run["frames"] for devices, run in runs.items()}
    yield at_most(
        f"growth_{form}_us_a_frame_of_{largest}_devices_against_{smallest}", us[largest], us[smallest], 1.5
    )
    if largest == max(DEVICES):
        run = runs[largest]
        yield at_most(f"growth_{form}_{largest}_devices_cpu_s_against_600", run["cpu_s"], LONGEST_CPU_S, 1.0)
        yield at_most(f"growth_{form}_{largest}_devices_mb_against_2048", run["most_mb"], MOST_MB, 1.0)
    for devices, run in runs.items():
        for what in ("cpu_s", "most_mb", "frames"):
            yield alone(f"growth_{form}_{devices}_devices_{what}", run[what])


def draw(runs: dict[int, Any], path: Path) -> None:
    """Draw CPU time and memory over the devices, and CPU time over the frames."""
    from matplotlib.figure import Figure

    devices = list(runs)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    columns: dict[str, list[float]] = {
        what: [run[what] for run in runs.values()] for what in ("cpu_s", "most_mb", "frames")
    }
    thousands = [frames / 1000 for frames in columns["frames"]]
    panels = (
        (devices, columns["cpu_s"], "devices", "CPU seconds for an hour"),
        (thousands, columns["cpu_s"], "thousand frames", "CPU seconds for an hour"),
        (devices, columns["most_mb"], "devices", "MB"),
    )
    for place, (across, up, x, y) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), place)
        axes.plot(across, up, marker="o", label="measured")
        if x == "thousand frames":
            axes.plot(
                across, [up[0] * at / across[0] for at in across], linestyle=":", label="if it were linear"
            )
            axes.legend(frameon=False)
        axes.set(xlabel=x, ylabel=y, xlim=(0, None), ylim=(0, None))
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
