"""Keys as files: the mission's secret, a node's share of it, and a subscriber's own signing key.

A key is one line of text, `dens-KIND-VERSION NODE HEX`, so that it can be read out, compared and pasted:

    dens-mission-1 - 64 hex digits            the secret of the mission; every tag derives from it
    dens-node-2 7/subscriber 64 hex digits    what node 7 authenticates with in this role; derived from it
    dens-signing-1 7 64 hex digits            the secret with which subscriber 7 signs (Ed25519)
    dens-public-1 7 64 hex digits             verifies these signatures

Node keys of version 1 had no role and are no longer accepted; they have to be derived again.

`new_mission_key`, `new_signing_key`, `derive` and `describe` are what `dens key new|derive|show` do.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dens.overlay.errors import BadKeyError
from dens.overlay.wire.authentication import node_key
from dens.overlay.wire.codes import LAST_NODE, Role

KEY_BYTES: Final = 32
_LONGEST_FILE: Final = 4_096
"""Bytes that are read of a file; a key is far shorter."""
MISSION, NODE, SIGNING, PUBLIC = "mission", "node", "signing", "public"
KINDS: Final = {
    MISSION: "the secret of a mission; its holder can speak for every node",
    NODE: "authenticates one node in one role; its holder can speak for this node in this role only",
    SIGNING: "the secret with which one subscriber signs; its holder can speak for this subscriber",
    PUBLIC: "verifies the signatures of a subscriber; it is not secret",
}


_VERSIONS: Final = {MISSION: "1", NODE: "2", SIGNING: "1", PUBLIC: "1"}
ROLES: Final = {role.name.lower(): role for role in Role}
"""The roles that a node key can be derived for, by the word in commands and key files."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of one kind, for one node unless it is the mission's; a node key also for one role."""

    kind: str
    node: int | None
    secret: bytes
    role: Role | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadKeyError(f"{self.kind!r} is not a kind of key; kinds are {', '.join(KINDS)}")
        if len(self.secret) != KEY_BYTES:
            raise BadKeyError(f"a key has {KEY_BYTES} bytes, here are {len(self.secret)}")
        if (self.node is None) is not (self.kind == MISSION):
            raise BadKeyError("a mission key belongs to no node, every other one to a node")
        if self.node is not None and not 0 <= self.node <= LAST_NODE:
            raise BadKeyError(f"node {self.node} is out of range (0..{LAST_NODE})")
        if (self.role is None) is (self.kind == NODE):
            raise BadKeyError(f"a node key belongs to one role ({', '.join(ROLES)}), every other key to none")

    def __repr__(self) -> str:
        return f"Key({self.kind!r}, {self._place!r}, {self.fingerprint!r})"

    @property
    def _place(self) -> str:
        """Return the node, with its role where it has one, as the line of a key has it."""
        if self.node is None:
            return "-"
        return str(self.node) if self.role is None else f"{self.node}/{self.role.name.lower()}"

    @property
    def fingerprint(self) -> str:
        """Return eight hex digits for comparing keys; they do not reveal the secret."""
        return sha256(b"dens key fingerprint v1" + self.secret).hexdigest()[:8]

    def as_line(self) -> str:
        """Return the key as text."""
        return f"dens-{self.kind}-{_VERSIONS[self.kind]} {self._place} {self.secret.hex()}\n"

    @classmethod
    def from_line(cls, line: str) -> "Key":
        """Read a key from text, or raise BadKeyError."""
        words = line.split()
        form = words[0].split("-") if words else []
        if form == ["dens", NODE, "1"]:
            raise BadKeyError(
                "a node key of version 1 has no role and is not accepted any more; derive it again: dens key "
                f"derive MISSION_KEY --node {words[1] if len(words) > 1 else 'NODE'} --role ROLE -o FILE"
            )
        if len(words) != 3 or len(form) != 3 or form[0] != "dens" or form[2] != _VERSIONS.get(form[1], "1"):
            raise BadKeyError("a key is one line: dens-KIND-VERSION, a node or -, and 64 hex digits")
        number, _, role = words[1].partition("/")
        if role and role not in ROLES:
            raise BadKeyError(f"{role!r} is not a role; roles are {', '.join(ROLES)}")
        try:
            node = None if number == "-" else int(number)
            secret = bytes.fromhex(words[2])
        except ValueError:
            raise BadKeyError("the node of a key is a number or -, its secret hex digits") from None
        return cls(form[1], node, secret, ROLES[role] if role else None)


def new_mission_key() -> Key:
    """Make the secret of a new mission, from the machine's randomness."""
    return Key(MISSION, None, os.urandom(KEY_BYTES))


def new_signing_key(node: int) -> Key:
    """Make the secret with which this subscriber signs."""
    return Key(SIGNING, node, os.urandom(KEY_BYTES))


def derive(key: Key, node: int | None = None, role: Role | None = None) -> Key:
    """Return the key of a node in a role from the mission's, or the public key from a signing one."""
    if key.kind == MISSION:
        if node is None or role is None:
            raise BadKeyError(
                f"a node key is derived for a node (--node) and a role (--role {'|'.join(ROLES)})"
            )
        if not 0 <= node <= LAST_NODE:
            raise BadKeyError(f"node {node} is out of range (0..{LAST_NODE})")
        return Key(NODE, node, node_key(key.secret, node, role), role)
    if role is not None:
        raise BadKeyError(f"only a node key has a role; leave --role out for a {key.kind} key")
    if key.kind == SIGNING:
        if node not in (None, key.node):
            raise BadKeyError(f"this signing key is subscriber {key.node}'s, not {node}'s")
        public = Ed25519PrivateKey.from_private_bytes(key.secret).public_key()
        return Key(PUBLIC, key.node, public.public_bytes_raw())
    raise BadKeyError(f"nothing is derived from a {key.kind} key")


def describe(key: Key) -> dict[str, str | int]:
    """Return the facts about a key that may be shown, never a secret."""
    facts: dict[str, str | int] = {
        "kind": key.kind,
        "meaning": KINDS[key.kind],
        "fingerprint": key.fingerprint,
    }
    if key.node is not None:
        facts["node"] = key.node
    if key.role is not None:
        facts["role"] = key.role.name.lower()
    if key.kind in (SIGNING, PUBLIC):
        facts["public key"] = (derive(key) if key.kind == SIGNING else key).as_line().strip()
    return facts


def write_key(key: Key, path: Path) -> None:
    """Write a key into a new file, readable by its owner only unless it is public. An existing file is never
    overwritten.
    """
    try:
        mode = 0o644 if key.kind == PUBLIC else 0o600
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise BadKeyError(f"{path} exists; a key is never overwritten, choose another file") from None
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.as_line())
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink()  # half a key is useless, and the name is free again
        raise


def is_private(key: Key, path: Path) -> bool:
    """Return whether only the owner can read this file, or the key is public."""
    return key.kind == PUBLIC or not path.stat().st_mode & 0o077


def read_key(path: Path, kind: str | None = None) -> Key:
    """Read a key of this kind, or raise `BadKeyError` with the file. Pipes and devices are refused."""
    if path.exists() and not path.is_file():
        raise BadKeyError(f"{path} is not a regular file; a key is read from a file")
    try:
        with path.open(encoding="ascii") as file:
            key = Key.from_line(file.read(_LONGEST_FILE))
    except UnicodeDecodeError:
        raise BadKeyError(f"{path}: a key is plain text") from None
    except BadKeyError as error:
        raise BadKeyError(f"{path}: {error}") from None
    if kind not in (None, key.kind):
        raise BadKeyError(f"{path} is a {key.kind} key; a {kind} key is needed here")
    return key


class SigningKey:
    """Signs the messages of one subscriber."""

    __slots__ = ("_private",)

    def __init__(self, key: Key) -> None:
        if key.kind != SIGNING:
            raise BadKeyError(f"a {key.kind} key does not sign")
        self._private = Ed25519PrivateKey.from_private_bytes(key.secret)

    def sign(self, statement: bytes) -> bytes:
        """Return the signature, 64 bytes."""
        return self._private.sign(statement)


class IdentityBook:
    """The subscribers whose public keys are known. A strict book accepts no others."""

    __slots__ = ("_is_strict", "_keys")

    def __init__(self, keys: Iterable[Key], *, is_strict: bool = False) -> None:
        self._is_strict = is_strict
        self._keys: dict[int, Ed25519PublicKey] = {}
        for key in keys:
            if key.kind != PUBLIC or key.node is None:
                raise BadKeyError(f"subscribers are recognised by public keys, not by a {key.kind} key")
            if key.node in self._keys:
                raise BadKeyError(f"two public keys for subscriber {key.node}; keep one")
            self._keys[key.node] = Ed25519PublicKey.from_public_bytes(key.secret)

    def is_signer(self, origin: int) -> bool:
        """Return whether messages of this subscriber need a signature."""
        return self._is_strict or origin in self._keys

    def verifies(self, origin: int, statement: bytes, signature: bytes) -> bool:
        """Return whether this subscriber signed this statement."""
        key = self._keys.get(origin)
        if key is None:
            return False
        try:
            key.verify(signature, statement)
        except InvalidSignature:
            return False
        return True
