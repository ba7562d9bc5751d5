"""Shapes for the tests of the language: at random, and from the golden file."""

import json
from typing import Any

from hypothesis import strategies as st

from plugins.atopss.shapes.profiles import is_profile
from plugins.atopss.shapes.scale import INFINITE
from plugins.atopss.shapes.shapes import Shape
from tests.paths import ROOT
from tests.plugins.atopss.oracle import Curve, curve

GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/atopss_v1.json").read_text("utf-8"))
PROFILES = [byte for byte in range(256) if is_profile(byte)]


def golden_shape(written: dict[str, Any]) -> Shape:
    """Return a shape of the golden file."""
    ends = (-INFINITE, -INFINITE, INFINITE, INFINITE)
    corners = [
        end if corner is None else corner for corner, end in zip(written["corners"], ends, strict=True)
    ]
    left, right = (sum(code << 4 * at for at, code in enumerate(written[side])) for side in ("left", "right"))
    return Shape(corners[0], corners[1], corners[2], corners[3], left, right)


def drawn(shape: Shape) -> Curve:
    """Return a shape as the oracle draws it."""
    corners = [
        None if abs(corner) == INFINITE else corner for corner in (shape.m1, shape.m2, shape.m3, shape.m4)
    ]
    return curve(corners, (shape.left, shape.right), GOLDEN["tables"])


@st.composite
def shapes(draw: st.DrawFn, *, reach: int = 40, curved: bool = True) -> Shape:
    """Shapes of every kind on a short axis, where corners often coincide."""
    m1, m2, m3, m4 = sorted(draw(st.tuples(*[st.integers(0, reach)] * 4)))
    form = draw(st.sampled_from(["any", "point", "interval", "triangle"]))
    if form == "point":
        m1 = m2 = m3 = m4
    elif form == "interval":
        m1, m4 = m2, m3
    elif form == "triangle":
        m3 = m2
    endless = draw(st.sampled_from(["no", "no", "no", "left", "right", "both"]))
    if endless in ("left", "both"):
        m1 = m2 = -INFINITE
    if endless in ("right", "both"):
        m3 = m4 = INFINITE
    bent = st.sampled_from(PROFILES) if curved else st.just(0)
    left = draw(bent) if m1 < m2 and curved and draw(st.booleans()) else 0
    right = draw(bent) if m3 < m4 and curved and draw(st.booleans()) else 0
    return Shape(m1, m2, m3, m4, left, right)
