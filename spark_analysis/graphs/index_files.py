"""An index of subscriptions as a folder of arrays, in numbered immutable versions.

    INDEX/version-0001/index.json     format, version, mission table, and type and digest of each array
                       names.json     the names of the subscriptions, by position
                       NAME.npy       the arrays

A version is written to a temporary folder and renamed, so that readers see only complete versions, and a
stream continues with the version that it recorded. Folders are untrusted: each array is checked against its
digest before use, and object arrays are rejected.
"""

import hashlib
import io
import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dens.config.json_documents import LARGEST_JSON, parse_json
from dens.config.problems import DocumentError
from dens.config.untrusted_folder import read_in
from knowledge_manager.mission_table import MissionTable

FORMAT: Final = 1
LARGEST_ARRAY: Final = 1 << 32
"""Maximum bytes of one array."""
MOST_SUBSCRIPTIONS: Final = 100_000_000
_FACTS: Final = "index.json"
_NAMES: Final = "names.json"
_VERSION: Final = re.compile(r"version-([0-9]{4,9})")
_ARRAY_NAME: Final = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_ADVICE: Final = "recreate it with `dens graph index`"

Arrays = Mapping[str, "np.ndarray[Any, Any]"]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One validated version of an index; `arrays` are in memory."""

    folder: Path
    version: int
    digest: str
    """Digest of the content."""
    names: tuple[str, ...]
    header: Mapping[str, Any]
    """Plain data that belongs to the arrays."""
    arrays: Arrays


def table_digest(table: MissionTable) -> str:
    """Return a digest of a mission table; its check is one byte only."""
    return hashlib.sha256(table.canonical()).hexdigest()


def write_index(
    folder: Path, arrays: Arrays, header: Mapping[str, Any], names: Sequence[str], table: MissionTable
) -> IndexVersion:
    """Write the next version of an index and return it as read."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder, prefix=".writing-"))
    try:
        digests = {}
        for name, array in arrays.items():
            assert _ARRAY_NAME.fullmatch(name), name
            content = io.BytesIO()
            np.save(content, np.ascontiguousarray(array), allow_pickle=False)
            (beside / f"{name}.npy").write_bytes(content.getvalue())
            digests[name] = hashlib.sha256(content.getvalue()).hexdigest()
        listed = json.dumps(list(names), ensure_ascii=False).encode()
        (beside / _NAMES).write_bytes(listed)
        beside.chmod(0o755)
        while True:
            version = newest_version(folder) + 1
            facts = {
                "format": FORMAT,
                "version": version,
                "table": {"check": table.check, "digest": table_digest(table)},
                "subscriptions": len(names),
                "names": hashlib.sha256(listed).hexdigest(),
                "header": dict(header),
                "arrays": digests,
            }
            (beside / _FACTS).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
            try:
                beside.rename(version_folder(folder, version))
            except OSError:
                if not version_folder(folder, version).exists():
                    raise
                continue  # another process wrote this version meanwhile
            return read_index(folder, table, version)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def newest_version(folder: Path) -> int:
    """Return the number of the newest version, 0 if there is none."""
    found = (_VERSION.fullmatch(one.name) for one in folder.iterdir()) if folder.is_dir() else ()
    return max((int(one[1]) for one in found if one is not None), default=0)


def version_folder(folder: Path, version: int) -> Path:
    return folder / f"version-{version:04}"


def read_index(folder: Path, table: MissionTable, version: int | None = None) -> IndexVersion:
    """Return a version of an index, by default the newest. A damaged index, another format or another mission
    table raises D528.
    """
    wanted = newest_version(folder) if version is None else version
    if not wanted or not version_folder(folder, wanted).is_dir():
        reason = (
            "not an index (it has no version)" if version is None else f"the index has no version {wanted}"
        )
        raise refused(folder, reason)
    return read_version(version_folder(folder, wanted), table)


def read_version(folder: Path, table: MissionTable) -> IndexVersion:
    """Return the version in this folder."""
    raw = _read(folder, _FACTS, LARGEST_JSON)
    facts = parse_json(raw, str(folder / _FACTS), "D528")
    try:
        if facts["format"] != FORMAT:
            raise refused(folder, f"the index has format {facts['format']!r}; expected {FORMAT}")
        if facts["table"] != {"check": table.check, "digest": table_digest(table)}:
            raise refused(
                folder,
                f"the index was made with another mission table (check {facts['table']['check']!r}, here "
                f"{table.check}); name the vocabularies it was made with",
            )
        listed = _held(folder, _NAMES, facts["names"])
        names = tuple(map(str, parse_json(listed, str(folder / _NAMES), "D528", MOST_SUBSCRIPTIONS)))
        arrays = {
            name: _array(folder, name, digest)
            for name, digest in facts["arrays"].items()
            if _ARRAY_NAME.fullmatch(name)
        }
        if len(names) != facts["subscriptions"] or len(arrays) != len(facts["arrays"]):
            raise refused(folder, f"{_FACTS} is inconsistent")
        version, header = int(facts["version"]), dict(facts["header"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise refused(folder, f"{_FACTS} is damaged ({type(error).__name__}: {error})") from None
    return IndexVersion(folder, version, hashlib.sha256(raw).hexdigest(), names, header, arrays)


def packed_version(folder: Path, target: Path) -> Path:
    """Write a version into an archive for workers, and return it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return target


def _array(folder: Path, name: str, digest: str) -> "np.ndarray[Any, Any]":
    content = _held(folder, f"{name}.npy", digest)
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise refused(folder, f"{name}.npy is not an array ({error})") from None
    assert isinstance(found, np.ndarray)
    return found


def _held(folder: Path, name: str, digest: str) -> bytes:
    content = _read(folder, name, LARGEST_ARRAY)
    if hashlib.sha256(content).hexdigest() != digest:
        raise refused(folder, f"{name} is damaged: its digest differs")
    return content


def _read(folder: Path, name: str, limit: int) -> bytes:
    try:
        return read_in(folder, name, limit)
    except OSError as error:
        raise refused(folder, f"{name} cannot be read ({error.strerror or error})") from None


def refused(folder: Path, what: str) -> DocumentError:
    """Return the D528 error."""
    return DocumentError.of_file(str(folder), "D528", f"{what}; {_ADVICE}")
