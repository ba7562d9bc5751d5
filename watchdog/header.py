"""The three header bytes of every subscription vector, independent of the language.

    id (1)  revision (1)  lifetime code (1)  body

The body belongs to the language. On boards the fuzzy filter reads whole vectors, so its offsets include the
header.
"""

HEADER_ID = 0
HEADER_REVISION = 1
HEADER_LIFETIME = 2
BODY_AT = 3

NO_HEADER = b"\x00\x00\x00"
"""Header for a body where a whole vector is needed and id, revision and lifetime do not matter."""


def framed(id: int, revision: int, lifetime_q: int, body: bytes) -> bytes:
    """Return the vector of a subscription."""
    return bytes((id, revision, lifetime_q)) + body


def body_of(vector: bytes) -> bytes:
    """Return the language's part of a subscription vector."""
    return vector[BODY_AT:]
