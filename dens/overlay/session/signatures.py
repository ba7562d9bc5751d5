"""Who said it: a subscriber's own signature over what never changes on the way.

A tag (dens/overlay/wire/authentication.py) says which *neighbour* sent some bytes, and is made again at
every hop; so a mediator could speak for a subscriber. Where subscribers sign, a mediator that knows their
keys takes their subscriptions, renewals, withdrawals and receipts only with their signature, whoever brings
them. Age, hops and copies change on the way and are not covered. Publishers are not asked to verify: boards
cannot, and what they are told to look for comes from their mediator, without the signature.
"""

from struct import Struct
from typing import Final

from dens.interfaces import Identities, Signer
from dens.overlay.session.quarantine import Quarantine, Work
from dens.overlay.wire.codes import RECEIPT, SIGNABLE_TYPES
from dens.overlay.wire.item import Item

_LABEL: Final = b"dens subscriber v1"
_FIXED: Final = Struct(">BBHIB")
_WIDE_LABEL: Final = b"dens subscriber v2"
_WIDE: Final = Struct(">BBIIB")
_LAST_NARROW: Final = 0xFFFF
_NARROW: Final = b"\x00\x00"
"""Up to envelope version 2 an origin had two bytes, in receipts too. What was signed then stays signed: where
two bytes suffice they are what is signed, and the label says which of the two it is.
"""
_SIGNABLE: Final = frozenset(int(kind) for kind in SIGNABLE_TYPES)


def statement(item: Item) -> bytes:
    """Return what is signed: type, language, origin, number, lifetime code and payload, behind a label."""
    is_wide = item.origin > _LAST_NARROW
    label, fixed = (_WIDE_LABEL, _WIDE) if is_wide else (_LABEL, _FIXED)
    payload = item.payload
    if item.type == RECEIPT and not is_wide and payload[:2] == _NARROW:
        payload = payload[2:]
    return label + fixed.pack(item.type, item.language, item.origin, item.number, item.lifetime_q) + payload


def signed(item: Item, signer: Signer | None) -> Item:
    """Return the message with its maker's signature, or as it is where its maker does not sign."""
    return item if signer is None else item.replace(signature=signer.sign(statement(item)))


def has_valid_signature(item: Item, identities: Identities | None) -> bool:
    """Return whether a message may be believed to be its origin's.

    It may where it is none of a subscriber's, where nobody's identity is known here, and where its origin
    does not sign; from one that signs only with its signature.
    """
    if identities is None or item.type not in _SIGNABLE or not identities.is_signer(item.origin):
        return True
    return bool(item.signature) and identities.verifies(item.origin, statement(item), item.signature)


def verifies_signature(
    item: Item, identities: Identities | None, quarantine: Quarantine, peer: int, now_ms: int
) -> bool:
    """Return whether a message that a peer brings is believed; one that cannot be verified is not."""
    if identities is None:
        return True
    return quarantine.attempt(
        Work.TAKING, item, now_ms, has_valid_signature, item, identities, otherwise=False, peer=peer
    )
