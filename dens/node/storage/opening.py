"""Opens the stores of a node and its endpoints, or refuses them with a code and advice."""

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
"""Message numbers of a new store start at two per second since 2020, so that they lie above those of a lost
store. The range lasts for 34 years."""

CLOCK_MS: Final = 10_000
"""A clock may be put back by this much without a warning."""


def open_store(
    path: Path, owner: Owner, now_ms: int, say: Callable[[str], None], *, recover: bool
) -> SqliteStore:
    """Open the store of this owner, or raise `DocumentError`; report where a damaged file is kept."""
    try:
        store = SqliteStore(path, owner=owner, recover=recover)
    except ForeignStoreError as error:
        raise DocumentError.of_file(str(path), "D347", str(error)) from None
    except DamagedStoreError as error:
        advice = "--recover takes over the intact rows, and keeps the damaged file under another name"
        raise DocumentError.of_file(str(path), "D348", f"{error}; {advice}") from None
    except StoreInUseError as error:
        advice = f"another {owner} is using it; end that one first, or give this one a number"
        message = str(error) if owner.kind == MEDIATOR else f"{advice} of its own: --as N"
        raise DocumentError.of_file(str(path), "D349", message) from None
    except StoreError as error:
        raise DocumentError.of_file(str(path), "D349", str(error)) from None
    if store.damaged is not None:
        count = sum(1 for _ in store.load())
        say(
            f"the store was damaged; {count:,} intact rows were taken over, and it is kept as {store.damaged}"
        )
    init_counters(store, max(1, now_ms // NUMBER_MS % LINK_NUMBER))
    _warn_of_clock(store, now_ms, say)
    return store


def _warn_of_clock(store: SqliteStore, now_ms: int, say: Callable[[str], None]) -> None:
    """Warn if the clock went back, as on a machine without a battery-backed clock: messages that seem to come
    from the future are not in force yet.
    """
    newest_ms = max(
        (item_of(key, value).created_ms for space, key, value in store.load() if space == Space.ITEM),
        default=now_ms,
    )
    if newest_ms > now_ms + CLOCK_MS:
        say(
            f"this machine's clock is {(newest_ms - now_ms) / 1000:,.0f} s behind what the store has seen; "
            "newer subscriptions are not in force until then; set the clock and start again"
        )


def endpoint_store_path(folder: Path, kind: str, number: int, given: Path | None) -> Path:
    """Return the path of an endpoint's store: the given one, or one beside the node's file.

    A number belongs to one endpoint: its store counts the message numbers, so a second store with the same
    number would use them again.
    """
    other = PUBLISHER if kind == SUBSCRIBER else SUBSCRIBER
    taken = folder / f"{other}-{number}.sqlite"
    if taken.exists():
        raise DocumentError.of_file(
            str(taken), "D346", f"{number} is a {other}'s number already; give this {kind} another one: --as"
        )
    return given or folder / f"{kind}-{number}.sqlite"
