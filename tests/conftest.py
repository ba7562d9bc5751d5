"""What all tests share: how golden files are renewed (`make golden`), and how hypothesis behaves here."""

import gc
import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.nodeid import NodeId
from hypothesis import HealthCheck, settings

from tests.sizes import SOAK, full_in_soak

# The same examples on every run: a failure that CI saw can be seen at home. `make soak` looks for new ones.
settings.register_profile(
    "repeatable",
    max_examples=full_in_soak(30, 100),
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

os.environ.setdefault("DENS_PURE", "1")
"""Tests look inside and put other parts in place, which the compiled form does not allow. It is held to the
same bytes (tests/dens/compiled); `DENS_PURE=0` lets all tests run with it."""

pytest_plugins = ["tests.shared_spark"]

collect_ignore_glob = [] if SOAK else ["soak/*"]
"""What takes minutes and hours is collected by `make soak` alone."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-golden", action="store_true", help="rewrite golden files instead of comparing")
    parser.addoption("--cpu", action="store_true", help="show the tests with the most CPU seconds")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end, and let workers know
    which tests share what is dear to set up.

    xdist 3.8 writes the group of a test behind its id in a field that pytest 9 no longer reads, so that every
    worker would set up everything (`tests/contracts/test_groups.py` shows it).
    """
    for item in items:
        if "_nodeid" in vars(item):
            item._id = NodeId.parse(vars(item)["_nodeid"])
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("slow", "spark"))))


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of garbage collection: a board collects at every turn, and
    seven thousand tests would be searched each time.
    """
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--cpu"):
        config.pluginmanager.register(CpuTimes())


class CpuTimes:
    """Measures CPU seconds per test, including its child processes (JVM, QEMU, Node, `dens`).

    Unlike wall seconds they are comparable between a busy and a quiet machine. A fixture counts for the first
    test that needs it.
    """

    def __init__(self) -> None:
        self._last_s = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._last_s = cpu_seconds(os.getpid())
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now_s = cpu_seconds(os.getpid())
        report.cpu_s = max(0.0, now_s - self._last_s)  # an attribute, so that xdist passes it on
        self._last_s = now_s
        return report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        tests: Counter[str] = Counter()
        files: Counter[str] = Counter()
        for reports in terminalreporter.stats.values():
            for report in reports:
                tests[getattr(report, "nodeid", "")] += getattr(report, "cpu_s", 0.0)
        for nodeid, cpu_s in tests.items():
            files[nodeid.partition("::")[0]] += cpu_s
        terminalreporter.section(f"{sum(tests.values()):.0f} CPU seconds in tests")
        for name, cpu_s in (*tests.most_common(25), *files.most_common(25)):
            terminalreporter.write_line(f"{cpu_s:8.1f}  {name}")


def cpu_seconds(root: int) -> float:
    """Return the CPU seconds of a process and its descendants, those that have exited included."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has exited
            continue
        pid = int(path.parent.name)
        ticks[pid] = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append(pid)
    total, pending = 0, [root]
    while pending:
        pid = pending.pop()
        total += ticks.get(pid, 0)
        pending += children.get(pid, ())
    return total / os.sysconf("SC_CLK_TCK")
