"""The book of receipts: which node has which item, however often it was reported."""

import pytest

from dens.overlay.errors import RemoteProtocolError
from dens.overlay.storage.receipts import ReceiptTable
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item, ItemId, item_id
from dens.overlay.wire.messages import Receipt

NOTIFICATION = item_id(4, 7)


def receipt(number: int, subscriber: int = 1, notification: ItemId = NOTIFICATION) -> Item:
    return Item(MessageType.RECEIPT, 0, subscriber, number, 0, 80, 1, Receipt(notification).encode())


def test_a_subscriber_has_it_until_the_last_of_its_receipts_is_gone() -> None:
    book = ReceiptTable()
    for one in (receipt(1), receipt(2), receipt(2), receipt(3, subscriber=5)):
        assert book.add(one) == item_id(4, 7)
    assert len(book) == 3
    book.remove(receipt(9))
    book.remove(receipt(1))
    book.remove(receipt(1))
    assert [book.has(item_id(4, 7), subscriber) for subscriber in (1, 5, 6)] == [True, True, False]
    book.remove(receipt(2))
    assert [book.has(item_id(4, 7), subscriber) for subscriber in (1, 5, 6)] == [False, True, False]
    book.remove(receipt(3, subscriber=5))
    assert not book.has(item_id(4, 7), 5)
    book.add(receipt(4))
    assert book.has(item_id(4, 7), 1)
    assert not book.has(item_id(4, 8), 1)
    assert book.oldest() == receipt(4)


def test_invalid_receipt_changes_nothing() -> None:
    book = ReceiptTable()
    with pytest.raises(RemoteProtocolError):
        book.add(receipt(1).replace(payload=b"12345"))
    assert len(book) == 0
