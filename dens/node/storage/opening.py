"""The stores of a node and of its ends: opened as theirs, or refused with a code and with what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from dens.config.problems import DocumentError
from dens.node.storage.owner import Owner
from dens.node.storage.sqlite import SqliteStore
from dens.overlay.errors import DamagedStoreError, ForeignStoreError, StoreError, StoreInUseError
from dens.overlay.storage.durable_state import init_counters
from dens.overlay.storage.store import Space, item_of
from dens.overlay.wire.codes import LINK_NUMBER

MEDIATOR, SUBSCRIBER, PUBLISHER = "DENS node", "subscriber", "publisher"


NUMBER_MS: Final = 500
"""The numbers of a new store begin where two a second since 2020 would have come to, so that they lie above
those of a store that was lost; there is room for 34 years of that."""

CLOCK_MS: Final = 10_000
"""A clock may be put back by so much without a word."""


def open_store(
    path: Path, owner: Owner, now_ms: int, say: Callable[[str], None], *, recover: bool
) -> SqliteStore:
    """Open the store of this owner, or raise `DocumentError`; say where a damaged one is kept."""
    try:
        store = SqliteStore(path, owner=owner, recover=recover)
    except ForeignStoreError as error:
        raise DocumentError.of_file(str(path), "D347", str(error)) from None
    except DamagedStoreError as error:
        advice = "--recover takes over what is whole, and keeps the damaged file under another name"
        raise DocumentError.of_file(str(path), "D348", f"{error}; {advice}") from None
    except StoreInUseError as error:
        advice = f"another {owner} is using it; end that one first, or give this one a number"
        said = str(error) if owner.kind == MEDIATOR else f"{advice} of its own: --as N"
        raise DocumentError.of_file(str(path), "D349", said) from None
    except StoreError as error:
        raise DocumentError.of_file(str(path), "D349", str(error)) from None
    if store.damaged is not None:
        count = sum(1 for _ in store.load())
        say(f"the store was damaged; {count:,} whole rows were taken over, and it is kept as {store.damaged}")
    init_counters(store, max(1, now_ms // NUMBER_MS % LINK_NUMBER))
    _warn_of_clock(store, now_ms, say)
    return store


def _warn_of_clock(store: SqliteStore, now_ms: int, say: Callable[[str], None]) -> None:
    """Say that the clock went back, as it does on a machine without one of its own: what seems to have been
    made in the future is not in force yet.
    """
    newest_ms = max(
        (item_of(key, value).created_ms for space, key, value in store.load() if space == Space.ITEM),
        default=now_ms,
    )
    if newest_ms > now_ms + CLOCK_MS:
        say(
            f"this machine's clock is {(newest_ms - now_ms) / 1000:,.0f} s behind what the store has seen; "
            "what was asked for then is not in force until that time comes again: set the clock, start anew"
        )


def endpoint_store_path(folder: Path, kind: str, number: int, given: Path | None) -> Path:
    """Return where an end keeps what it must not forget: beside its node's file, or where it was told to.

    One number is one end: message numbers are counted in its store, so a second store with the same number
    would give out the same ones again.
    """
    other = PUBLISHER if kind == SUBSCRIBER else SUBSCRIBER
    taken = folder / f"{other}-{number}.sqlite"
    if taken.exists():
        raise DocumentError.of_file(
            str(taken), "D346", f"{number} is a {other}'s number already; give this {kind} another one: --as"
        )
    return given or folder / f"{kind}-{number}.sqlite"
