"""End-to-end signatures of subscribers, over the fields of a message that never change on the way.

A tag (dens/overlay/wire/authentication.py) authenticates the *neighbour* that sent some bytes, and is made
again at every hop, so a mediator could impersonate a subscriber. If subscribers sign, a mediator that knows
their keys accepts their subscriptions, renewals, withdrawals and receipts only with their signature, from any
peer. Age, hops and copies change on the way and are not covered. Publishers do not verify: boards cannot, and
they receive filters from their mediator without the signature.
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
"""Up to envelope version 2 an origin had two bytes, in receipts too. To keep old signatures valid, the short
form is signed if two bytes suffice; the label distinguishes the two forms.
"""
_SIGNABLE: Final = frozenset(int(kind) for kind in SIGNABLE_TYPES)


def statement(item: Item) -> bytes:
    """Return the signed bytes: a label, then type, language, origin, number, lifetime code and payload."""
    is_wide = item.origin > _LAST_NARROW
    label, fixed = (_WIDE_LABEL, _WIDE) if is_wide else (_LABEL, _FIXED)
    payload = item.payload
    if item.type == RECEIPT and not is_wide and payload[:2] == _NARROW:
        payload = payload[2:]
    return label + fixed.pack(item.type, item.language, item.origin, item.number, item.lifetime_q) + payload


def signed(item: Item, signer: Signer | None) -> Item:
    """Return the message with a signature, or unchanged without a signer."""
    return item if signer is None else item.replace(signature=signer.sign(statement(item)))


def has_valid_signature(item: Item, identities: Identities | None) -> bool:
    """Return whether a message has the signature that it needs: one whose type is signable, from an origin
    that signs. Others need none.
    """
    if identities is None or item.type not in _SIGNABLE or not identities.is_signer(item.origin):
        return True
    return bool(item.signature) and identities.verifies(item.origin, statement(item), item.signature)


def verifies_signature(
    item: Item, identities: Identities | None, quarantine: Quarantine, peer: int, now_ms: int
) -> bool:
    """Return whether a message of a peer has the signature that it needs; not if the verification fails."""
    if identities is None:
        return True
    return quarantine.attempt(
        Work.TAKING, item, now_ms, has_valid_signature, item, identities, otherwise=False, peer=peer
    )
