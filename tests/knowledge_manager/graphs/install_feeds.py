"""Fetches the feeds that feedparser's own tests read, by the hash of its source package, never copied here.

They lie in .build/feeds/ afterwards. The package is not installed: we read its feeds, not with it.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".build" / "feeds"
VERSION = "6.0.14"
INTEGRITY = "088679b0c4b543ee211a820dd544698c76a402122eae7473c04a43425f283d06"
"""SHA-256 of the source package, which is under the BSD licence."""

FEEDS = FOLDER / f"feedparser-{VERSION}" / "tests"
"""Where they lie, fetched or not."""


def main() -> None:
    """Fetch them unless they are there."""
    if FEEDS.is_dir():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
        options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", scratch]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, f"feedparser=={VERSION}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        [archive] = Path(scratch).glob("feedparser-*.tar.gz")
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != INTEGRITY:
            raise SystemExit(
                f"feedparser {VERSION} is not the package that was tested: its SHA-256 is {found}"
            )
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        (Path(scratch) / f"feedparser-{VERSION}").rename(FOLDER / f"feedparser-{VERSION}")


if __name__ == "__main__":
    main()
