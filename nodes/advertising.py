"""What an end advertises to a broker: all that it measures, or that its documents tell."""

from collections.abc import Iterable, Iterator

from dens.publisher import ANNOUNCE_LIFETIME_Q, PublisherEnd
from knowledge_manager.event_class import Attribute, EventClass
from knowledge_manager.local_dictionary import LocalDataDictionary
from nodes.node_file import NodePlan
from plugins.routing import routing_of
from watchdog.header import framed


def advertise(
    end: PublisherEnd, offered: LocalDataDictionary, languages: Iterable[int], plan: NodePlan, now_ms: int
) -> list[str]:
    """Advertise what is offered in these languages where the node is a broker; return the names of those in
    which something new is said.
    """
    if plan.settings.routing == "carry":
        return []
    said: dict[str, None] = {}
    id = 0
    for number in languages:
        language = plan.languages[number]
        routing = routing_of(language, plan.table, plan.settings.broker.spared)
        for event, attributes in _measured(offered):
            body = None if routing is None else routing.advertisement(event, attributes)
            if body is not None:
                if not end.advertises(id, body):
                    vector = framed(id, end.next_advertisement(id), ANNOUNCE_LIFETIME_Q, body)
                    end.advertise(vector, number, now_ms)
                    said[language.name] = None
                id += 1
    return list(said)


def _measured(offered: LocalDataDictionary) -> Iterator[tuple[EventClass, list[Attribute]]]:
    """Yield the event classes of sources with what is told of each. Of graphs nobody can say beforehand which
    there will be."""
    for source in offered.sources:
        if isinstance(source.event, EventClass):
            yield source.event, [one for one in source.attributes if isinstance(one, Attribute)]
