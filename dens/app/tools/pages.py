"""Error pages and guides: from the installed package, or from docs/ in a checkout."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from dens.config.problems import did_you_mean
from dens.config.refusal import Refusal

_PACKAGE: Final = Path(__file__).resolve().parents[2]
_KINDS: Final = ("", "how-to", "reference", "explanation", "papers")
"""Folders of guides; a guide is named without its folder."""
_CODE: Final = re.compile(r"[Dd]\d{3}")


@cache
def pages_folder() -> Path:
    """Return the folder of the pages."""
    for folder in (_PACKAGE / "_pages", _PACKAGE.parent / "docs"):
        if (folder / "errors").is_dir():
            return folder
    raise Refusal(
        "this installation has no pages; install dens from a wheel, or read docs/ in its repository"
    )


def guides() -> dict[str, str]:
    """Return the title of every guide, by name."""
    return {name: _title(path) for name, path in sorted(_guide_paths().items())}


def error_pages() -> dict[str, str]:
    """Return the title of every error page, by code."""
    paths = sorted((pages_folder() / "errors").glob("D*.md"))
    return {path.stem: _title(path).removeprefix(f"{path.stem}: ") for path in paths}


def read_page(topic: str) -> str:
    """Return the page of an error code or a guide; an unknown topic raises `Refusal`."""
    is_code = _CODE.fullmatch(topic) is not None
    known = error_pages() if is_code else guides()
    name = topic.upper() if is_code else topic.removesuffix(".md").lower()
    if name not in known:
        advice = did_you_mean(name, list(known)) or '; "dens help" lists all'
        raise Refusal(f'page "{topic}" is unknown{advice}')
    path = pages_folder() / "errors" / f"{name}.md" if is_code else _guide_paths()[name]
    return path.read_text("utf-8")


def _guide_paths() -> dict[str, Path]:
    paths = (path for kind in _KINDS for path in (pages_folder() / kind).glob("*.md"))
    return {path.stem: path for path in paths if path.name != "README.md"}


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as page:
        return page.readline().strip().removeprefix("# ")
