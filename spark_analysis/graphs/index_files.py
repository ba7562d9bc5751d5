"""An index of subscriptions as a folder of arrays, in numbered versions that never change.

    INDEX/version-0001/index.json     format, version, mission table, and of each array its type and digest
                       names.json     what each subscription is called, by its position
                       NAME.npy       the arrays

A version is written beside and renamed into place: whoever lists the folder sees whole versions only, and a
stream goes on with the version that it noted. Nothing of a folder is believed: each array is held against its
digest before it is used, and none may hold objects.
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
"""Bytes of one array."""
MOST_SUBSCRIPTIONS: Final = 100_000_000
_FACTS: Final = "index.json"
_NAMES: Final = "names.json"
_VERSION: Final = re.compile(r"version-([0-9]{4,9})")
_ARRAY_NAME: Final = re.compile(r"[a-z][a-z0-9_.]{0,63}")
_ADVICE: Final = "make it anew with `dens graph index`"

Arrays = Mapping[str, "np.ndarray[Any, Any]"]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """One version of an index, checked; `arrays` lie in memory."""

    folder: Path
    version: int
    digest: str
    """Of all that it holds: equal digests are equal indexes."""
    names: tuple[str, ...]
    header: Mapping[str, Any]
    """Plain data that belongs to the arrays."""
    arrays: Arrays


def table_digest(table: MissionTable) -> str:
    """Return what tells mission tables apart for good; their check is one byte."""
    return hashlib.sha256(table.canonical()).hexdigest()


def write_index(
    folder: Path, arrays: Arrays, header: Mapping[str, Any], names: Sequence[str], table: MissionTable
) -> IndexVersion:
    """Write the next version of an index and return it as it is read."""
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
                continue  # somebody else wrote this version meanwhile
            return read_index(folder, table, version)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def newest_version(folder: Path) -> int:
    """Return the number of the newest version, 0 where there is none."""
    found = (_VERSION.fullmatch(one.name) for one in folder.iterdir()) if folder.is_dir() else ()
    return max((int(one[1]) for one in found if one is not None), default=0)


def version_folder(folder: Path, version: int) -> Path:
    """Return where a version lies, or would."""
    return folder / f"version-{version:04}"


def read_index(folder: Path, table: MissionTable, version: int | None = None) -> IndexVersion:
    """Return a version of an index, the newest if none is named; D528 refuses what is damaged, of another
    format or of another mission table.
    """
    wanted = newest_version(folder) if version is None else version
    if not wanted or not version_folder(folder, wanted).is_dir():
        what = "no index (it has no version)" if version is None else f"an index without version {wanted}"
        raise refused(folder, f"this is {what}")
    return read_version(version_folder(folder, wanted), table)


def read_version(folder: Path, table: MissionTable) -> IndexVersion:
    """Return the version that lies in this very folder."""
    raw = _read(folder, _FACTS, LARGEST_JSON)
    facts = parse_json(raw, str(folder / _FACTS), "D528")
    try:
        if facts["format"] != FORMAT:
            raise refused(folder, f"the index has format {facts['format']!r}, this program reads {FORMAT}")
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
            raise refused(folder, f"{_FACTS} contradicts itself")
        version, header = int(facts["version"]), dict(facts["header"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise refused(folder, f"{_FACTS} is damaged ({type(error).__name__}: {error})") from None
    return IndexVersion(folder, version, hashlib.sha256(raw).hexdigest(), names, header, arrays)


def packed_version(folder: Path, target: Path) -> Path:
    """Write a version into an archive that workers unpack, and return it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return target


def _array(folder: Path, name: str, digest: str) -> "np.ndarray[Any, Any]":
    content = _held(folder, f"{name}.npy", digest)
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise refused(folder, f"{name}.npy is no array ({error})") from None
    assert isinstance(found, np.ndarray)
    return found


def _held(folder: Path, name: str, digest: str) -> bytes:
    content = _read(folder, name, LARGEST_ARRAY)
    if hashlib.sha256(content).hexdigest() != digest:
        raise refused(folder, f"{name} is damaged: its digest is another")
    return content


def _read(folder: Path, name: str, limit: int) -> bytes:
    try:
        return read_in(folder, name, limit)
    except OSError as error:
        raise refused(folder, f"{name} cannot be read ({error.strerror or error})") from None


def refused(folder: Path, what: str) -> DocumentError:
    """Return the error that refuses an index."""
    return DocumentError.of_file(str(folder), "D528", f"{what}; {_ADVICE}")
