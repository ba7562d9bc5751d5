"""What datagrams carry, whether it goes alone or together."""

from collections.abc import Iterator

from dens.overlay.wire.authentication import TAG_BYTES
from dens.overlay.wire.codes import BATCH
from dens.overlay.wire.envelope import TAGGED, unpack
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Batch


def messages_in(data: bytes, now_ms: int = 0) -> Iterator[Item]:
    """Yield the messages of a datagram; a batch is what it carries."""
    if data[0] & TAGGED:
        data = bytes((data[0] & ~TAGGED,)) + data[1:-TAG_BYTES]
    item = unpack(data, now_ms)[0]
    if item.type == BATCH:
        for message in Batch.decode(item.payload).messages:
            yield unpack(message, now_ms)[0]
    else:
        yield item
