"""`dens node subscriptions`: lists the active subscriptions of a subscriber on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, NodeFile
from dens.overlay.wire.codes import LAST_NODE

if TYPE_CHECKING:
    from dens.overlay.endpoints.subscriber import SubscriberEndpoint


def subscriptions(
    node: NodeFile,
    number: Annotated[
        int, typer.Option("--as", metavar="NODE", min=0, max=LAST_NODE, help="Node number of the subscriber.")
    ] = 65_002,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Store of the subscriber; next to NODE.toml by default.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the active subscriptions of a subscriber.

    Prints id, name, language and remaining lifetime. Fails with D349 while `dens node subscribe` runs with
    the same number, because it holds the store.
    """
    from dens.cli import console
    from dens.node.assembly import subscriber
    from dens.node.clock import real_clock
    from dens.node.output.stdout import say
    from dens.node.settings.node_file import load_node
    from dens.node.storage.opening import SUBSCRIBER, endpoint_store_path, open_store
    from dens.node.storage.owner import Owner

    plan, clock = load_node(node), real_clock()
    place = endpoint_store_path(plan.folder, SUBSCRIBER, number, store)
    rows: list[dict[str, Any]] = []
    if place.exists():
        kept = open_store(place, Owner(SUBSCRIBER, number), clock(), say, recover=False)
        try:
            rows = _active(subscriber(plan, number, kept, clock(), None), clock())
        finally:
            kept.close()
    if as_json:
        console.print_document({"subscriber": number, "subscriptions": rows})
        return
    if not rows:
        typer.echo(f"subscriber {number} has no active subscriptions")
        return
    from rich.table import Table

    table = Table("id", "name", "language", "active until", "remaining")
    for row in rows:
        remaining = _duration(row["remaining_s"])
        name = row["name"] or ""
        table.add_row(str(row["id"]), name, row["language"], row["active_until"], remaining)
    console.out().print(table)


def _active(end: "SubscriberEndpoint", now_ms: int) -> list[dict[str, Any]]:
    from datetime import UTC, datetime

    from dens.node.clock import NETWORK_EPOCH_MS
    from plugins.registry import languages

    known = languages()
    rows: list[dict[str, Any]] = []
    for held in end.in_force:
        if held.until_ms <= now_ms:
            continue
        language = known.get(held.item.language)
        until = datetime.fromtimestamp((NETWORK_EPOCH_MS + held.until_ms) / 1000, UTC)
        rows.append(
            {
                "id": held.id,
                "name": end.labels.get(held.id),
                "language": str(held.item.language) if language is None else language.name,
                "active_until": f"{until:%Y-%m-%dT%H:%M:%SZ}",
                "remaining_s": (held.until_ms - now_ms) // 1000,
                "vector": held.vector.hex(),
            }
        )
    return rows


def _duration(seconds: int) -> str:
    """Return a duration in its two largest units.

    >>> _duration(90061), _duration(59)
    ('1 d 1 h', '59 s')
    """
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])
