"""Keys from the command line: generated, derived and inspected; secrets are shown only on request."""

import os
import stat
from pathlib import Path

import pytest


def secret_of(path: Path) -> str:
    return path.read_text().split()[2]


def test_a_missions_keys_are_made_and_derived_and_their_secrets_stay_in_their_files(
    dens, tmp_path: Path
) -> None:
    mission, node = tmp_path / "mission.key", tmp_path / "node7.key"
    made = dens("key", "new", "-o", mission, "--json")
    assert made.code == 0
    assert made.document()["kind"] == "mission"
    role = ("--role", "subscriber")
    derived = dens("key", "derive", mission, "--node", "7", *role, "-o", node)
    assert derived.code == 0
    assert "kind: node" in derived.out
    assert "node: 7" in derived.out
    assert "role: subscriber" in derived.out
    again = dens("key", "derive", mission, "--node", "7", *role, "-o", tmp_path / "again.key")
    assert again.code == 0
    assert (tmp_path / "again.key").read_text() == node.read_text()
    shown = dens("key", "show", mission)
    for ended in (made, derived, again, shown):
        for path in (mission, node):
            assert secret_of(path) not in ended.out + ended.err
    for path in (mission, node):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    asked = dens("key", "show", mission, "--secret", "--json").document()
    assert asked["secret"] == mission.read_text().strip()
    assert asked["fingerprint"] == made.document()["fingerprint"]


def test_a_subscribers_public_key_is_derived_and_shown(dens, tmp_path: Path) -> None:
    signing, public = tmp_path / "medic.key", tmp_path / "medic.pub"
    shown = dens("key", "new", "--subscriber", "3", "-o", signing, "--json").document()
    assert dens("key", "derive", signing, "-o", public).code == 0
    assert shown["public key"] == public.read_text().strip()
    assert secret_of(signing) not in str(shown)
    assert shown["node"] == 3
    assert stat.S_IMODE(public.stat().st_mode) == 0o644
    signing.chmod(0o644)
    assert f"chmod 600 {signing}" in dens("key", "show", signing).err.replace("\n", "")
    again = dens("key", "derive", signing, "-o", tmp_path / "again.pub")
    assert f"chmod 600 {signing}" in again.err.replace("\n", "")
    assert dens("key", "show", public).err == ""


def test_impossible_key_commands_are_reported_and_overwrite_nothing(dens, tmp_path: Path) -> None:
    mission = tmp_path / "mission.key"
    dens("key", "new", "-o", mission)
    before = mission.read_bytes()
    cases = [
        (["new", "-o", mission], 3, "never overwritten"),
        (["new", "--subscriber", "2147483648", "-o", tmp_path / "x"], 2, "2147483647"),
        (["derive", mission, "-o", tmp_path / "x"], 3, "--node"),
        (["derive", mission, "--node", "7", "-o", tmp_path / "x"], 3, "--role subscriber|mediator|publisher"),
        (["derive", mission, "--node", "7", "--role", "broker", "-o", tmp_path / "x"], 2, "broker"),
        (["derive", mission, "--node", "2147483648", "-o", tmp_path / "x"], 2, "2147483647"),
        (["show", tmp_path / "missing.key"], 3, "check the path"),
        (["derive", mission, "--node", "-1", "-o", tmp_path / "x"], 2, "--node"),
        (["show", tmp_path], 3, "not a regular file"),
        (["show", "/dev/zero"], 3, "not a regular file"),
        (["new", "-o", tmp_path / "no folder" / "x"], 3, "check the path"),
    ]
    for words, code, said in cases:
        ended = dens("key", *words)
        assert ended.code == code, words
        assert said in ended.err.replace("\n", " ")
    assert mission.read_bytes() == before
    assert not (tmp_path / "x").exists()


def test_a_pipe_is_refused_at_once_instead_of_waited_for(dens, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for words in (["show", pipe], ["derive", pipe, "--node", "7", "-o", tmp_path / "x"]):
        ended = dens("key", *words)
        assert ended.code == 3
        assert "not a regular file" in ended.err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"dens-mission-1 - 00", b"dens-node-1 7 " + b"0" * 64])
def test_file_without_a_key_is_refused_by_name(dens, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.key"
    path.write_bytes(content)
    ended = dens("key", "show", path)
    assert ended.code == 3
    assert "bad.key" in ended.err
    assert "Traceback" not in ended.err
