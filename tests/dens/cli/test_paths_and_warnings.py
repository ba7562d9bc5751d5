"""Addresses are not paths, and JSON carries the warnings that the terminal shows."""

from pathlib import Path

import pytest

SHIFTED = """<subscription xmlns="urn:dens:subscription:1" event="patient">
  <crisp-predicate attribute="patient_temperature" operator="ge">38.4</crisp-predicate>
</subscription>
"""


@pytest.mark.parametrize(
    "command",
    [
        ("run", "two_islands", "--out"),
        ("report",),
        ("rerun",),
        ("compile", "fever.xml", "-o"),
        ("check",),
        ("learn", "composite", "a.xml", "b.csv", "-o"),
        ("graph", "index", "patterns", "-o"),
    ],
)
@pytest.mark.parametrize("address", ["s3a://bucket/run", "hdfs://host/x", "S3://b"])
def test_addresses_are_refused(dens, tmp_path: Path, monkeypatch, command, address: str) -> None:
    monkeypatch.chdir(tmp_path)
    ended = dens(*command, address)
    assert ended.code == 2
    assert address in ended.err
    assert "only local paths are supported" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["check", "compile", "explain"])
def test_json_carries_the_warnings_of_the_terminal(dens, tmp_path: Path, command: str) -> None:
    path = tmp_path / "shifted.xml"
    path.write_text(SHIFTED)
    shown = dens(command, path)
    warnings = [line for line in (shown.out + shown.err).splitlines() if " warning D" in line]
    assert warnings != []
    problems = dens(command, path, "--json").document()["problems"]
    assert [
        f"{one['file']}:{one['line']}:{one['column']}: {one['severity']} {one['code']}: {one['message']}"
        for one in problems
        if one["severity"] == "warning"
    ] == warnings
