"""Feeds that we write: whoever reads them as RDF has all that was stated."""

from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.feeds.item import DC, ITEM, PART_OF, RSS, TYPE
from knowledge_manager.feeds.reader import read_feed
from knowledge_manager.feeds.writer import Channel, write_feed
from knowledge_manager.graphs.graph_reader import number_blank_nodes, read_graph
from knowledge_manager.graphs.terms import DECIMAL, INTEGER, Blank, Graph, Iri, Literal, Term, Triple, literal

CHANNEL = Channel("urn:dens:subscription:1", "one", "https://example.org/", "matches of subscription 1")
SUBJECT = Iri("https://example.org/n/1")

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp")), max_size=20
)
VALUES: st.SearchStrategy[Term] = st.one_of(
    st.sampled_from([Iri("urn:x:a"), Iri("urn:x:b"), Blank(0), Blank(1)]),
    TEXTS.map(literal),
    TEXTS.map(lambda text: literal(text, language="nb")),
    st.integers(-5, 5).map(lambda number: literal(str(number), INTEGER)),
    st.integers(-5, 5).map(lambda number: literal(f"{number}.5", DECIMAL)),
)
PROPERTIES = st.sampled_from([Iri(DC + "relation"), Iri("urn:x:p"), Iri("https://example.org/v#level")])
REACHED = st.sampled_from([SUBJECT, Blank(0), Blank(1)])


def reachable(triples: set[Triple]) -> Graph:
    """Return what is stated of the item, or of nodes without a name that it leads to."""
    known, size = {SUBJECT}, 0
    while len(known) != size:
        size = len(known)
        known |= {one.object for one in triples if one.subject in known and isinstance(one.object, Blank)}
    return number_blank_nodes(sorted((one for one in triples if one.subject in known), key=repr))


@given(st.sets(st.builds(Triple, REACHED, PROPERTIES, VALUES), max_size=8))
def test_rdf_reads_back_all_that_is_stated(stated: set[Triple]) -> None:
    head = {Triple(SUBJECT, TYPE, ITEM), Triple(SUBJECT, Iri(RSS + "title"), Literal("t"))}
    graph = reachable(stated | head | {Triple(SUBJECT, Iri(RSS + "link"), Literal("l"))})
    written = write_feed(CHANNEL, [(SUBJECT, graph)])
    back = read_graph(written, "f.rdf", "xml").graph
    of_channel = {one for one in back if one.subject == Iri(CHANNEL.about)}
    rest = {one for one in back - of_channel if "Seq" not in repr(one) and "ns#_" not in repr(one)}
    assert len(rest) == len(graph)
    assert reachable(rest) == graph


def test_our_own_reader_reads_it_too() -> None:
    item = Triple(SUBJECT, TYPE, ITEM), Triple(SUBJECT, Iri(RSS + "title"), Literal("Dam", language="en"))
    named = {*item, Triple(SUBJECT, Iri(RSS + "link"), Literal(SUBJECT.text))}
    [found] = read_feed(write_feed(CHANNEL, [(SUBJECT, frozenset(named))]), "f.rss").items
    expected = Triple(SUBJECT, Iri(RSS + "title"), literal("Dam", language="en"))
    assert found.graph >= {expected, Triple(SUBJECT, PART_OF, Iri(CHANNEL.about))}
    assert found.title == "Dam"


def test_items_have_what_rss_asks_for_and_nothing_that_xml_cannot_hold() -> None:
    odd = {
        Triple(SUBJECT, Iri("urn:x:1"), Literal("no element can be called 1")),
        Triple(SUBJECT, Iri("urn:x:p"), Literal("bell\x07")),
    }
    text = write_feed(CHANNEL, [(SUBJECT, frozenset(odd))]).decode()
    assert "<title>https://example.org/n/1</title>\n    <link>https://example.org/n/1</link>" in text
    assert "bell\ufffd" in text
    assert "no element" not in text


def test_the_order_of_items_is_kept_and_the_bytes_are_the_same_each_time() -> None:
    items = [(Iri(f"urn:x:{n}"), frozenset({Triple(Iri(f"urn:x:{n}"), TYPE, ITEM)})) for n in (2, 1, 3)]
    written = write_feed(CHANNEL, items)
    assert [one.subject.text for one in read_feed(written, "f").items] == ["urn:x:2", "urn:x:1", "urn:x:3"]
    assert written == write_feed(CHANNEL, items)
