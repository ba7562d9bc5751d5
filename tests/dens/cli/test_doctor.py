"""`dens doctor` reports the parts of DENS, and name clashes, without advice that would delete our files."""

from pathlib import Path

import pytest

from dens.app.tools import doctor, parts


def test_complete_installation_has_every_part(dens) -> None:
    ended = dens("doctor", "--json")
    found = {finding["part"]: finding for finding in ended.document()["findings"]}
    assert (ended.code, ended.document()["healthy"]) == (0, True)
    assert {found[part]["state"] for part in parts.PURPOSES} == {"fine"}
    assert "pyspark 4" in found["analysis"]["found"]
    assert "pyspark-client" not in str(found), "it would replace files of pyspark"
    assert {"Java", "mpy-cross", "mpremote", "QEMU for ARM", "micro:bit firmware", "disk"} <= set(found)
    assert found["engine"]["state"] == "fine"
    assert found["engine"]["found"] == "pure Python: DENS_PURE is set"


def test_missing_core_exits_with_1(dens, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = doctor.Finding("core", "missing", "not installed: rdflib [7]", 'pip install "x[y]"')
    monkeypatch.setattr(doctor, "examine", lambda: [bad])
    ended = dens("doctor")
    assert ended.code == 1
    assert 'pip install "x[y]"' in ended.out


@pytest.mark.parametrize(
    ("missing", "part", "state"), [("numba", "fast", "optional"), ("rdflib", "core", "missing")]
)
def test_missing_distribution_is_named_with_its_part(
    monkeypatch: pytest.MonkeyPatch, missing: str, part: str, state: str
) -> None:
    known = parts.installed_version
    monkeypatch.setattr(parts, "installed_version", lambda name: None if name == missing else known(name))
    [found] = [finding for finding in doctor._parts() if finding.part == part]
    assert (found.state, found.found) == (state, f"not installed: {missing}")
    assert found.advice.startswith(f'pip install "{missing}')


def test_shared_import_name_is_found_and_never_to_be_uninstalled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "shared_packages", lambda: [("watchdog", "watchdog")])
    monkeypatch.setattr(doctor, "hidden_packages", lambda: [("plugins", "/other/plugins/__init__.py")])
    found = {finding.part: finding for finding in doctor._names()}
    assert found["import name watchdog"].state == "optional"
    assert found["import name plugins"].state == "missing"
    assert all("uninstall" not in finding.advice for finding in found.values())


def test_folder_with_one_of_our_names_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    monkeypatch.chdir(tmp_path)
    [found] = doctor._names()
    assert (found.part, found.state) == ("import name plugins", "optional")
