"""A manifest lists every package whose entry points decide bytes of the trace."""

import re
from importlib import metadata

import pytest

from dens.trace import versions as module
from dens.trace.versions import corrections_since
from tests.paths import ROOT

ONLY_READ_TRACES = {"dens.metrics"}


def groups_in_the_code() -> set[str]:
    declared = re.compile(r'(?:ENTRY_POINT_GROUP: Final = |members\()"(dens\.[a-z_]+)"')
    packages = ("plugins", "dens", "nodes", "emulation", "spark_analysis")
    texts = [path.read_text() for package in packages for path in (ROOT / package).rglob("*.py")]
    return {group for text in texts for group in declared.findall(text)}


def test_a_package_of_each_group_that_decides_bytes_is_in_the_manifest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Package:
        name = "numpy-like"

        def __init__(self, group: str) -> None:
            self.entry_points = [metadata.EntryPoint("one", "module:one", group)]

    groups = groups_in_the_code()
    assert len(groups) >= 8
    assert groups >= ONLY_READ_TRACES
    for group in (*groups, "pytest11"):
        monkeypatch.setattr(module, "distributions", lambda chosen=group: [Package(chosen)])
        module.versions.cache_clear()
        assert ("numpy-like" in module.versions()) is (group in groups - ONLY_READ_TRACES), group
    monkeypatch.undo()
    module.versions.cache_clear()
    assert metadata.version("numpy") == module.versions()["numpy"]


def test_versions_without_a_number_have_no_corrections() -> None:
    assert corrections_since("from source") == ()
    assert corrections_since("") == ()
    assert corrections_since("0.2.0")
    assert corrections_since("1.0") == ()
