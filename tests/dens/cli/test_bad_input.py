"""Bad input gets words that say what, where and what to do, exit code 3, and leaves nothing half-written."""

import os
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
    assert "not a run" in ended.err
    assert sorted(path.name for path in sample.iterdir()) == before


def test_a_place_that_cannot_be_written(dens, sample: Path) -> None:
    """Not even root can create a folder in sysfs."""
    place = Path("/sys/dens-run")
    ended = dens("run", sample / "scenario.toml", "--out", place)
    assert ended.code == 3
    assert "dens-run" in ended.err
    assert "choose another place" in ended.err


def test_a_full_disk(sample: Path) -> None:
    """A limit on the size of files makes every longer write fail, as a full disk would."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    out = sample / "run"
    ended = subprocess.run(
        [sys.executable, "-m", "dens.cli", "run", str(sample / "scenario.toml"), "--out", str(out)],
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


def test_hexadecimal_longer_than_any_file_name(dens) -> None:
    """Such an argument was once taken for a path, and every vector with a function in it was refused."""
    ended = dens("decode", "00" * 130)
    assert ended.code == 3
    assert "attribute feature" in ended.err


def test_pipe_is_refused_as_document(dens, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "pipe.toml")
    ended = dens("compile", tmp_path / "pipe.xml")
    assert ended.code == 3
    assert "D002" in ended.err
    assert dens("check", tmp_path / "pipe.toml").code == 1


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000, "a = " + "{a = " * 2000, "seed = " + "1" * 5000],
    ids=["lists", "tables", "digits"],
)
def test_toml_that_no_parser_likes(dens, tmp_path: Path, text: str) -> None:
    (tmp_path / "deep.toml").write_text(text)
    ended = dens("check", tmp_path / "deep.toml", "--json")
    assert ended.code == 1
    assert ended.document()["problems"][0]["code"].startswith("D")


def test_an_endless_file(dens) -> None:
    ended = dens("match", "--subscriptions", "/dev/zero", "--notifications", "/dev/null")
    assert ended.code == 3
    assert "/dev/zero is not a file" in ended.err


@pytest.mark.parametrize("redirected", ["> /dev/full", ">&-", "<&-", "2> /dev/full"])
@pytest.mark.parametrize("words", ["compile no.xml --json", "decode 00ff", "decode -", "init --help"])
def test_closed_and_full_streams_give_no_traceback(words: str, redirected: str) -> None:
    command = f"{sys.executable} -m dens.cli {words} {redirected}"
    ended = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode in (0, 3)


def test_a_folder_in_place_of_a_file(dens, tmp_path: Path) -> None:
    (tmp_path / "good.xml").write_bytes(GOOD)
    ended = dens("compile", tmp_path / "good.xml", "-o", tmp_path)
    assert ended.code == 3
    assert f"{tmp_path}: Is a directory" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["good.xml"]


def test_usage_with_json_is_a_document_too(dens) -> None:
    ended = dens("compile", "x.xml", "--id", "300", "--json")
    assert ended.code == 2
    assert "--id" in ended.document()["problems"][0]["message"]


def test_what_a_file_says_does_not_steer_the_terminal(dens, tmp_path: Path) -> None:
    name = "\u202e" + "x" * 5000
    (tmp_path / "odd.xml").write_text(GOOD.decode().replace("patient", name))
    ended = dens("compile", tmp_path / "odd.xml")
    assert ended.code == 3
    assert "\u202e" not in ended.err
    assert len(ended.err) < 4000


@pytest.mark.parametrize("weight", ["1e308", "1e-320", "0", "-1", "nan"])
def test_weights_at_the_ends_of_floating_point(dens, tmp_path: Path, weight: str) -> None:
    (tmp_path / "w.xml").write_text(
        f"""<subscription xmlns="urn:dens:subscription:1" event="patient">
  <approximate-predicate attribute="heart_rate" weight="{weight}"><is>high</is></approximate-predicate>
  <approximate-predicate attribute="oxygen_saturation" weight="1"><is>low</is></approximate-predicate>
  <aggregating-function>weighted_mean</aggregating-function>
</subscription>
"""
    )
    ended = dens("compile", tmp_path / "w.xml")
    assert ended.code in (0, 3)
    assert "internal error" not in ended.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("width_m = 600", "width_m = 1e308"),
        ("range_m = 50", "range_m = 1e308"),
        ("duration_s = 7200", "duration_s = 0.0001"),
        ("[1.0, 2.0]", "[1.0, 1e9]"),
    ],
)
def test_sizes_that_no_world_has(dens, sample: Path, old: str, new: str) -> None:
    scenario = changed(sample / "scenario.toml", old, new)
    ended = dens("run", scenario, "--out", sample / "run")
    assert ended.code == 3
    assert f"{scenario}:" in ended.err
    assert not (sample / "run").exists()
