"""What stands before every subscription on the air, whatever its language: the overlay's three bytes.

    id (1)  revision (1)  lifetime code (1)  body

The body is the language's; together they are the subscription's vector. On boards the fuzzy filter reads
whole vectors, so its body is laid out behind these bytes.
"""

HEADER_ID = 0
HEADER_REVISION = 1
HEADER_LIFETIME = 2
BODY_AT = 3

NO_HEADER = b"\x00\x00\x00"
"""Stands before a body where a whole vector is wanted and number, revision and lifetime do not matter."""


def framed(id: int, revision: int, lifetime_q: int, body: bytes) -> bytes:
    """Return the vector of a subscription."""
    return bytes((id, revision, lifetime_q)) + body


def body_of(vector: bytes) -> bytes:
    """Return the language's part of a subscription vector."""
    return vector[BODY_AT:]
