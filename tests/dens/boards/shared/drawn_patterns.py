"""Patterns over three predicates: aggregator and block, exact and broken down, with every T-norm."""

FORMS = (
    (15, b"\x01\x82"),
    (14, b"\x01\x00"),
    (14, b"\x01\x80"),
    (15, b"\x02\xc1\x81"),
    (14, b"\x02\xc2\x00"),
    (15, b"\x06\x00\x02\x82\x01\xc0\x42"),
    (14, b"\x07\xc1\x00\xc0\x01\xc0\x02\x83"),
)
