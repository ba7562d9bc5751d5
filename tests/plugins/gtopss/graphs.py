"""Graphs, patterns and the mission table of the tests, and strategies that make them."""

from hypothesis import assume
from hypothesis import strategies as st

from knowledge_manager.graphs.taxonomy import Taxonomy
from knowledge_manager.graphs.terms import (
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INSTANT,
    INTEGER,
    RDF,
    Blank,
    Graph,
    Iri,
    Literal,
    Term,
    Triple,
    literal,
)
from knowledge_manager.graphs.values import value_of
from knowledge_manager.mission_table import load_mission_table
from plugins.gtopss.pattern import KINSHIPS, ORDERS, Code, Constraint, Edge, Pattern
from plugins.gtopss.rings import MOST_CUTS, cut_variables

REPORTS = load_mission_table(["reports"])

ITEM = """
@prefix rss: <http://purl.org/rss/1.0/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix t: <urn:dens:hazard:> .
@prefix place: <urn:dens:place:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<https://example.org/n/41> a rss:item ;
    rss:title "Dam at Skjelv leaks"@en ;
    dc:date "2026-05-02T06:30:00Z"^^xsd:dateTime ;
    dc:subject t:flashFlood ;
    dcterms:spatial place:skjelv .
"""

ITEM_BYTES = bytes.fromhex(
    "00005f00001004000806736b6a656c760009046e2f34310569f599e80702656e1344616d20617420536b6a656c76206c65616b73"
    "01010504050203020201160400"
)
PATTERN_BYTES = bytes.fromhex("00007400002003010569f3ed00030100050500020600010218122500")


def term(name: str) -> Iri:
    """Return the IRI of a name with a prefix of the shipped reports."""
    prefix, _, rest = name.partition(":")
    return Iri(REPORTS.dictionary.prefixes[prefix] + rest)


def iris() -> st.SearchStrategy[Iri]:
    names = [
        "urn:a",
        "urn:b",
        "urn:dens:hazard:flood",
        "urn:dens:hazard:x",
        "https://example.org/æ",
        "urn:a:b",
    ]
    return st.sampled_from([*map(Iri, names), *REPORTS.dictionary.terms[:20]])


def literals() -> st.SearchStrategy[Literal]:
    numbers = st.integers(-(2**70), 2**70)
    return st.one_of(
        st.builds(literal, st.text(max_size=8)),
        st.builds(literal, st.text(max_size=8), language=st.sampled_from(["en", "NB", "en-GB"])),
        st.builds(lambda n: literal(str(n), INTEGER), numbers),
        st.builds(lambda n, s: literal(f"{n}.{s}", DECIMAL), numbers, st.integers(0, 10**9)),
        st.builds(
            lambda x: literal(repr(x).replace("inf", "INF").replace("nan", "NaN"), DOUBLE), st.floats()
        ),
        st.builds(lambda t: literal(t.isoformat(), INSTANT), st.datetimes()),
        st.builds(lambda d: literal(d.isoformat(), DATE), st.dates()),
        st.builds(lambda b: literal(str(b).lower(), BOOLEAN), st.booleans()),
        st.builds(
            literal,
            st.text(max_size=5),
            st.sampled_from([INTEGER, DATE, INSTANT, BOOLEAN, "urn:type", "urn:dens:hazard:of"]),
        ),
    )


def graphs() -> st.SearchStrategy[Graph]:
    nodes: st.SearchStrategy[Term] = st.one_of(iris(), st.integers(0, 2).map(Blank))
    triples = st.builds(Triple, nodes, iris(), st.one_of(nodes, literals()))
    return st.frozensets(triples, min_size=1, max_size=12)


SMALL_TAXONOMY = Taxonomy(
    "small",
    {
        "urn:top": (),
        "urn:left": ("urn:top",),
        "urn:right": ("urn:top",),
        "urn:low": ("urn:left", "urn:right"),
        "urn:alone": (),
    },
    {"urn:thing": ("urn:low",), "urn:left": ("urn:alone",)},
)
CLASSES = [Iri(one) for one in SMALL_TAXONOMY.parents]
PROPERTIES = [
    Iri("urn:p"),
    Iri("urn:q"),
    Iri(RDF + "type"),
    Iri("http://www.w3.org/2000/01/rdf-schema#subClassOf"),
]
NAMES = [*CLASSES[:4], Iri("urn:thing"), Iri("urn:n")]
VALUES = [
    *(literal(text, INTEGER) for text in ("0", "1", "2", "-3", "no")),
    *(literal(text, DECIMAL) for text in ("1.0", "1.5", "2.0")),
    *(literal(text, DOUBLE) for text in ("1.0", "1.5", "NaN", "INF")),
    *(literal(text) for text in ("", "a", "b", "longer text a", "longer text b")),
    *(literal(text, language="en") for text in ("a", "b")),
    *(literal(text, INSTANT) for text in ("2026-05-01T00:00:00Z", "2026-05-02T06:30:00.5Z", "never")),
    *(literal(text, DATE) for text in ("2026-05-01", "2026-05-02")),
    *(literal(text, BOOLEAN) for text in ("true", "false", "maybe")),
    literal("x", "urn:type"),
]


def small_graphs(most: int = 12) -> st.SearchStrategy[Graph]:
    """Graphs of few nodes, so that patterns have something to find."""
    names: st.SearchStrategy[Term] = st.sampled_from([*NAMES, Blank(0), Blank(1)])
    objects = st.one_of(names, names, st.sampled_from(VALUES))
    triples = st.builds(Triple, names, st.sampled_from(PROPERTIES), objects)
    return st.frozensets(triples, min_size=1, max_size=most)


@st.composite
def patterns(draw: st.DrawFn, variables: int = 4, edges: int = 5, constraints: int = 3) -> Pattern:
    """Patterns over the terms of `small_graphs`, with rings of at most two cuts."""
    v = draw(st.integers(0, variables))
    constants = st.sampled_from(NAMES)
    ends = st.one_of(st.integers(0, v - 1), st.integers(0, v - 1), constants) if v else constants
    objects = st.one_of(ends, st.sampled_from(VALUES)) if draw(st.booleans()) else ends
    some = draw(
        st.lists(st.builds(Edge, ends, st.sampled_from(PROPERTIES), objects), min_size=1, max_size=edges)
    )
    used = list(dict.fromkeys(one for edge in some for one in edge.variables()))
    number = {old: new for new, old in enumerate(used)}
    renamed = [Edge(*(number[one] if isinstance(one, int) else one for one in edge)) for edge in some]
    asked = draw(st.lists(_constraints(len(used)), max_size=constraints)) if used else []
    found = Pattern(len(used), tuple(dict.fromkeys(renamed)), tuple(dict.fromkeys(asked)))
    assume(len(cut_variables(found)) <= MOST_CUTS)
    return found


def _constraints(variables: int) -> st.SearchStrategy[Constraint]:
    variable = st.integers(0, variables - 1)
    ordered = [one for one in VALUES if value_of(one) is not None]
    kinds = [
        st.builds(
            Constraint, variable, st.sampled_from([Code.EQ, Code.NE]), st.sampled_from([*VALUES, *NAMES])
        ),
        st.builds(Constraint, variable, st.sampled_from(sorted(ORDERS)), st.sampled_from(ordered)),
        st.builds(Constraint, variable, st.sampled_from(sorted(KINSHIPS)), st.sampled_from(CLASSES)),
    ]
    if variables > 1:
        pairs = st.tuples(variable, variable).filter(lambda pair: pair[0] < pair[1])
        kinds.append(pairs.map(lambda pair: Constraint(pair[0], Code.DIFFERS, pair[1])))
    return st.one_of(kinds)
