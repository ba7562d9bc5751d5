"""`dens doctor` reports the parts of DENS, and name clashes, without advice that would delete our files."""

from pathlib import Path

import pytest

from dens.app import doctor as examination
from dens.app import parts


def findings_of(dens, *, code: int) -> dict[str, dict[str, str]]:
    ended = dens("doctor", "--json")
    document = ended.document()
    assert (ended.code, document["healthy"]) == (code, code == 0)
    return {finding["part"]: finding for finding in document["findings"]}


def test_complete_installation_has_every_part(dens) -> None:
    found = findings_of(dens, code=0)
    assert {found[part]["state"] for part in parts.PURPOSES} == {"fine"}
    assert "pyspark 4" in found["analysis"]["found"]
    assert {"Java", "mpy-cross", "mpremote", "QEMU for ARM", "micro:bit firmware", "disk"} <= set(found)
    assert found["engine"]["state"] == "fine"
    assert found["engine"]["found"] == "pure Python: DENS_PURE is set"


@pytest.mark.parametrize(("missing", "part", "code"), [("numba", "fast", 0), ("rdflib", "core", 1)])
def test_missing_distribution_is_named_with_its_part(
    dens, monkeypatch: pytest.MonkeyPatch, missing: str, part: str, code: int
) -> None:
    known = parts.installed_version
    monkeypatch.setattr(parts, "installed_version", lambda name: None if name == missing else known(name))
    found = findings_of(dens, code=code)[part]
    assert found["state"] == ("missing" if code else "optional")
    assert found["found"] == f"not installed: {missing}"
    assert found["advice"].startswith(f'pip install "{missing}')


def test_pyspark_client_is_not_advised_beside_pyspark(dens) -> None:
    assert "pyspark-client" not in str(findings_of(dens, code=0))


def test_shared_import_name_is_found_and_never_to_be_uninstalled(
    dens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "shared_packages", lambda: [("watchdog", "watchdog")])
    monkeypatch.setattr(
        examination, "hidden_packages", lambda: [("plugins", "/elsewhere/plugins/__init__.py")]
    )
    found = findings_of(dens, code=1)
    assert found["import name watchdog"]["state"] == "optional"
    assert found["import name plugins"]["state"] == "missing"
    assert all("uninstall" not in found[f"import name {name}"]["advice"] for name in ("plugins", "watchdog"))


def test_folder_with_one_of_our_names_is_found(dens, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    monkeypatch.chdir(tmp_path)
    assert findings_of(dens, code=0)["import name plugins"]["state"] == "optional"
