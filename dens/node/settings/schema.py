"""Schema of a node's file: identity, storage, links and peers (docs/how-to/node.md)."""

from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt
from pydantic_core import PydanticCustomError

from dens.config.toml_documents import SchemaCodes
from dens.node.links.neighbours import Address
from dens.node.settings.routing import BrokerSettings, Routing
from dens.overlay.policies.registry import DEFAULT_POLICY
from dens.overlay.wire.codes import LAST_NODE
from dens.overlay.wire.messages import MOST_HOSTED

CODES = SchemaCodes(unknown_key="D341", missing_key="D343", bad_value="D342")

NodeNumber = Annotated[int, Field(ge=0, le=LAST_NODE)]


def address_of(text: str) -> Address:
    """Return host and port of `127.0.0.1:7001` or `[::1]:7001`; anything else raises ValueError."""
    host, _, port = text.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdigit() and int(port) <= 65_535):
        raise ValueError
    return str(ip_address(host)), int(port)


def is_loopback(address: Address) -> bool:
    """Return whether an address is reachable from this machine only."""
    return ip_address(address[0]).is_loopback


def _checked_address(text: str) -> str:
    try:
        address_of(text)
    except ValueError:
        raise PydanticCustomError(
            "D342", '"{text}" is not an IP address with a port, such as 127.0.0.1:7001', {"text": text}
        ) from None
    return text


AddressText = Annotated[str, AfterValidator(_checked_address)]


def _checked_name(text: str) -> str:
    if not text or "\0" in text:
        raise PydanticCustomError("D342", "a file name must not be empty or contain NUL", {})
    return text


FileName = Annotated[str, AfterValidator(_checked_name)]


class Settings(BaseModel):
    """A table of the file: unknown keys are refused, and values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class UdpSettings(Settings):
    """The node's socket. Port 0 lets the system choose."""

    address: AddressText
    accept_others: bool = True
    silence_s: Annotated[int, Field(ge=1, le=86_400)] = 3


class PeerSettings(Settings):
    """Another DENS node. It is greeted until it answers."""

    node: NodeNumber
    address: AddressText


def _checked_group(text: str) -> str:
    try:
        if ip_address(text).is_multicast:
            return text
    except ValueError:
        pass
    raise PydanticCustomError(
        "D342",
        '"{text}" is not a multicast group, such as 239.255.68.69 or ff02::4445',
        {"text": text},
    )


def _checked_interface(text: str) -> str:
    if 1 <= len(text.encode()) <= 15 and not any(one.isspace() or one in "/\0" for one in text):
        return text
    raise PydanticCustomError(
        "D342", '"{text}" is not the name of an interface, such as wlan0', {"text": text}
    )


class DiscoverySettings(Settings):
    """An interface for discovery by beacons, which are multicast or broadcast."""

    interface: Annotated[str, AfterValidator(_checked_interface)]
    group: Annotated[str, AfterValidator(_checked_group)] | None = None
    broadcast: bool = False
    port: Annotated[int, Field(ge=1, le=65_535)] = 7_013
    period_s: Annotated[float, Field(ge=0.1, le=3_600)] = 1.0


class SerialSettings(Settings):
    """A port with one board. Messages of a trusted port need no tag, and are marked as unverified."""

    port: FileName
    node: NodeNumber
    trusted: bool
    baud: Literal[9600, 19200, 38400, 57600, 115200, 230400] = 115200


class NodeSettings(Settings):
    """The whole file. Paths are relative to its folder."""

    node: NodeNumber
    store: FileName
    vocabularies: list[FileName] = Field(default_factory=list)
    thesaurus: list[FileName] = Field(default_factory=list)
    key: FileName | None = None
    identities: list[FileName] = Field(default_factory=list)
    algorithm: Literal["fnif", "fnifs", "fnifc"] = "fnifs"
    """Filter algorithm of publishers (docs/how-to/boards.md)."""
    matcher: str | None = None
    """Matching algorithm of the node (docs/explanation/matching.md)."""
    condition: str | None = None
    """Feature condition for a match; the same for all nodes of a mission."""
    policy: str = DEFAULT_POLICY
    policies: dict[str, dict[str, int]] = Field(default_factory=dict)
    hosts: list[NodeNumber] = Field(default_factory=list, max_length=MOST_HOSTED)
    covering: bool = False
    """Whether mediators suppress INSTALLs of covered subscriptions, and sources grant leases for that."""
    routing: Routing = "carry"
    """Store-carry-forward, content-based brokers, or flooding; the same for all nodes of a mission."""
    broker: BrokerSettings = BrokerSettings()
    limits: dict[str, PositiveInt] = Field(default_factory=dict)
    udp: UdpSettings | None = None
    peer: list[PeerSettings] = Field(default_factory=list)
    discovery: list[DiscoverySettings] = Field(default_factory=list, max_length=16)
    serial: list[SerialSettings] = Field(default_factory=list)
