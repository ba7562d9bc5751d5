"""Reads the position of an item: both forms of GeoRSS, and W3C latitude and longitude."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from knowledge_manager.feeds.item import GEO, LATITUDE, LONGITUDE
from knowledge_manager.graphs.terms import DECIMAL, Iri, Literal, is_ill_formed, literal

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_POINTS: Final = ("{http://www.georss.org/georss}point", "{http://www.opengis.net/gml}pos")
_POLE: Final = 90.0
_ANTIMERIDIAN: Final = 180.0


def position(element: "Element") -> Iterator[tuple[Iri, Literal]]:
    """Yield latitude and longitude of the item's first point; lines and areas are ignored."""
    for latitude, longitude in _points(element):
        found = literal(latitude, DECIMAL), literal(longitude, DECIMAL)
        if any(map(is_ill_formed, found)):
            continue
        if abs(float(found[0].text)) <= _POLE and abs(float(found[1].text)) <= _ANTIMERIDIAN:
            yield LATITUDE, found[0]
            yield LONGITUDE, found[1]
            return


def _points(element: "Element") -> Iterator[tuple[str, str]]:
    for one in element.iterdescendants(*_POINTS):
        numbers = "".join(map(str, one.itertext())).replace(",", " ").split()
        if len(numbers) == 2:
            yield numbers[0], numbers[1]
    for parent in (element, *element.iterdescendants(f"{{{GEO}}}Point")):
        found = {
            etree.QName(one).localname: "".join(map(str, one.itertext())).strip()
            for one in parent.iterchildren(f"{{{GEO}}}lat", f"{{{GEO}}}long", f"{{{GEO}}}lon")
        }
        latitude, longitude = found.get("lat", ""), found.get("long", found.get("lon", ""))
        if latitude and longitude:
            yield latitude, longitude
