"""Pictures of patterns: every edge, node and condition is in them, whatever the pattern."""

from hypothesis import given
from lxml import etree

from plugins.gtopss.authoring.graph_authoring import GraphAuthoring
from plugins.gtopss.authoring.picture import PatternPicture
from plugins.gtopss.pattern import Pattern
from tests.plugins.gtopss.graphs import PATTERN_BYTES, REPORTS, patterns

SVG = "{http://www.w3.org/2000/svg}"


def test_the_golden_pattern_in_a_terminal() -> None:
    assert GraphAuthoring().picture(PATTERN_BYTES, REPORTS, None).terminal() == [
        "?a",
        "├── rdf:type ─→ rss:item",
        '├── dc:date ─→ ?c [≥ "2026-05-01T00:00:00Z"^^xsd:dateTime]',
        "└── dc:subject ─→ ?b [is a t:flood]",
    ]


@given(patterns())
def test_every_edge_is_drawn_once(pattern: Pattern) -> None:
    picture = PatternPicture(pattern, REPORTS)
    lines = picture.terminal()
    assert sum("─→ " in line or "←─ " in line for line in lines) == len(pattern.edges)
    root = etree.fromstring(picture.svg().encode())
    nodes = {end for edge in pattern.edges for end in (edge.subject, edge.object)}
    assert len(root.findall(f"{SVG}path")) == len(pattern.edges)
    assert len(root.findall(f"{SVG}rect")) == len(nodes) + 1, "and the ground"
    words = len(pattern.edges) + len(nodes) + len(pattern.constraints)
    assert len(root.findall(f"{SVG}text")) == words


@given(patterns())
def test_everything_drawn_is_on_the_picture(pattern: Pattern) -> None:
    root = etree.fromstring(PatternPicture(pattern, REPORTS).svg().encode())
    width, height = (float(str(root.get(name))) for name in ("width", "height"))
    for text in root.iter(f"{SVG}text"):
        x, y = float(str(text.get("x"))), float(str(text.get("y")))
        assert 0 <= x <= width
        assert 0 <= y <= height


def test_a_page_says_what_the_lines_say() -> None:
    picture = GraphAuthoring().picture(PATTERN_BYTES, REPORTS, None)
    page = picture.page(["a < b"], "flood.rq")
    assert "a &lt; b" in page
    assert picture.svg() in page
