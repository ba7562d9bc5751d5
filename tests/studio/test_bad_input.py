"""Bad input gets words that say what, where and what to do, exit code 3, and leaves nothing half-written."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = b"""<subscription xmlns="urn:dens:subscription:1" event="patient" threshold="0.6">
  <approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate>
</subscription>
"""


@pytest.fixture
def sample(dens, tmp_path: Path) -> Path:
    assert dens("init", tmp_path / "demo").code == 0
    return tmp_path / "demo"


def changed(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def test_a_misspelt_key(dens, sample: Path) -> None:
    scenario = changed(sample / "scenario.toml", "width_m", "widht_m")
    ended = dens("run", scenario, "--out", sample / "run")
    assert ended.code == 3
    line = 1 + scenario.read_text().splitlines().index("widht_m = 600")
    assert f"{scenario}:{line}:1: error D3" in ended.err
    assert 'did you mean "width_m"?' in ended.err
    assert not (sample / "run").exists()


def test_every_error_at_once(dens, sample: Path) -> None:
    scenario = changed(sample / "scenario.toml", "width_m", "widht_m")
    changed(scenario, "range_m = 50", "range_m = -50")
    changed(scenario, 'role = "mediator"', 'role = "mediatr"')
    ended = dens("check", scenario, "--json")
    assert ended.code == 1
    found = ended.document()["problems"]
    assert len(found) >= 3
    assert all(problem["line"] > 0 and problem["code"].startswith("D") for problem in found)


def test_a_wrong_unit(dens, sample: Path) -> None:
    xml = changed(sample / "subscriptions" / "bad_heater.xml", 'unit="ppm"', 'unit="metre"')
    ended = dens("compile", xml, "--vocabulary", sample / "shelter.toml")
    assert ended.code == 3
    assert f"{xml}:5:" in ended.err
    assert "metre" in ended.err
    assert ended.out == ""


@pytest.mark.parametrize(
    "words",
    [["run", "no.toml"], ["compile", "no.xml"], ["check", "no.xml"], ["report", "nowhere"], ["run", "rescu"]],
)
def test_a_missing_file(dens, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = dens(*words)
    said = ended.out + ended.err
    assert ended.code == (1 if words[0] == "check" else 3)
    assert words[1] in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_malformed_xml(dens, tmp_path: Path) -> None:
    path = tmp_path / "broken.xml"
    path.write_bytes(GOOD.replace(b"</is>", b"</si>"))
    ended = dens("compile", path, "-o", tmp_path / "broken.sv")
    assert ended.code == 3
    assert f"{path}:2:" in ended.err
    assert not (tmp_path / "broken.sv").exists()


def test_one_bad_file_of_several_compiles_none(dens, tmp_path: Path) -> None:
    (tmp_path / "good.xml").write_bytes(GOOD)
    (tmp_path / "bad.xml").write_bytes(GOOD.replace(b"high", b"hihg"))
    ended = dens("compile", tmp_path, "-o", tmp_path / "out")
    assert ended.code == 3
    assert 'did you mean "high"?' in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cut", range(17))
def test_a_truncated_vector(dens, cut: int) -> None:
    ended = dens("decode", "00006700009592ff547bff3f01017f0107"[: 2 * cut] or "-0")
    assert ended.code in (2, 3)
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_not_hexadecimal(dens) -> None:
    ended = dens("decode", "xyz", "--json")
    assert ended.code == 3
    assert "hexadecimal" in ended.err
    assert ended.document()["problems"][0]["severity"] == "error"


def test_an_occupied_folder(dens, sample: Path) -> None:
    before = sorted(path.name for path in sample.iterdir())
    ended = dens("run", sample / "scenario.toml", "--out", sample, "--force")
    assert ended.code == 3
    assert "no run" in ended.err
    assert sorted(path.name for path in sample.iterdir()) == before


def test_a_place_that_cannot_be_written(dens, sample: Path) -> None:
    """Nobody, root included, can make a folder in sysfs."""
    place = Path("/sys/dens-run")
    ended = dens("run", sample / "scenario.toml", "--out", place)
    assert ended.code == 3
    assert "dens-run" in ended.err
    assert "choose another place with --out" in ended.err


def test_a_full_disk(sample: Path) -> None:
    """A limit on the size of files makes every longer write fail, as a full disk would."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    out = sample / "run"
    ended = subprocess.run(
        [sys.executable, "-m", "studio.main", "run", str(sample / "scenario.toml"), "--out", str(out)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert not out.exists()
    assert [path.name for path in sample.iterdir() if path.name.startswith(".")] == []
