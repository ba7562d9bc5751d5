"""Reads and validates a node's file and the files that it names."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from dens.config.reading import read_text
from dens.config.toml_documents import key_path, read_model
from dens.config.toml_positions import Path as KeyPath
from dens.config.toml_positions import TomlPositions
from dens.node.installed_policies import made_policy, parameter_faults, policies, unknown_policy
from dens.node.keys import MISSION, PUBLIC, IdentityBook, Key, read_key
from dens.node.links.neighbours import Address
from dens.node.settings.schema import CODES, NodeSettings, address_of, is_loopback
from dens.overlay.errors import BadKeyError
from dens.overlay.limits import Limits
from dens.overlay.policies.policy import ReplicationPolicy
from knowledge_manager.lookup.thesaurus_files import (
    COMPILED_SUFFIX,
    SKOS_SUFFIXES,
    load_layers,
    shipped_thesauri,
)
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies
from plugins.language import SubscriptionLanguage
from plugins.matching_choice import MatchingChoice, choice_faults
from plugins.registry import languages

THESAURUS_SUFFIXES = (COMPILED_SUFFIX, *SKOS_SUFFIXES)
NO_KEY = (
    "is beyond loopback, where a mission key is needed: without it any machine could speak for every node; "
    'make one with `dens key new -o mission.key` and write key = "mission.key"'
)


@dataclass(frozen=True, slots=True)
class Places:
    """Creates problems with positions in one node's file."""

    file: str
    positions: TomlPositions

    def problem(
        self, path: KeyPath, code: str, message: str, *, meant: Iterable[str] = (), is_key: bool = False
    ) -> Problem:
        """Return an error at the place of this key; for `meant` see `TomlPositions.problem`."""
        text = f"{key_path(path)}: {message}" if path else message
        return self.positions.problem(self.file, path, code, text, meant=meant, is_key=is_key)


@dataclass(frozen=True, slots=True)
class NodePlan:
    """Everything needed to start a node: its settings and the content of the files that they name."""

    settings: NodeSettings
    folder: Path
    vocabularies: tuple[str | Path, ...]
    """The names of shipped ones, and files."""
    table: MissionTable
    limits: Limits
    mission_key: Key | None
    identities: IdentityBook | None
    thesauri: tuple[str | Path, ...] = ()
    """The names of shipped ones, and files. They take precedence over the shipped thesaurus."""
    places: Places | None = None
    """Positions of the keys in the file."""

    @property
    def store(self) -> Path:
        """Return the path of the node's store."""
        return self.folder / self.settings.store

    @property
    def secret(self) -> bytes | None:
        """Return the secret of the mission key, None without authentication."""
        return None if self.mission_key is None else self.mission_key.secret

    @property
    def languages(self) -> dict[int, SubscriptionLanguage]:
        """Return all languages with the matcher and condition of the file."""
        return MatchingChoice(self.settings.matcher, self.settings.condition).applied(languages())

    def problem(self, path: KeyPath, code: str, message: str) -> Problem:
        """Return an error found at the start of the node, at its place in the file."""
        if self.places is None:
            return Problem(str(self.folder), 0, 0, "error", code, message)
        return self.places.problem(path, code, message)

    def replication(self) -> ReplicationPolicy:
        """Return the replication policy of the file."""
        settings = self.settings
        return made_policy(settings.policy, settings.node, settings.policies.get(settings.policy, {}))

    @property
    def peers(self) -> dict[int, Address]:
        """Return the addresses of the listed peers."""
        return {peer.node: address_of(peer.address) for peer in self.settings.peer}


def load_node(path: Path) -> NodePlan:
    """Read a node's file and the files that it names; all problems are raised as one `DocumentError`."""
    text = read_text(path)
    settings, positions = read_model(text, str(path), NodeSettings, CODES)
    places, folder = Places(str(path), positions), path.parent
    problems = list(_checked(settings, places))

    def read(key: KeyPath, name: str, kind: str) -> Key | None:
        try:
            return read_key(folder / name, kind)
        except OSError as error:
            problems.append(places.problem(key, "D345", f"{folder / name}: {error.strerror}"))
        except (BadKeyError, ValueError) as error:
            problems.append(places.problem(key, "D345", str(error)))
        return None

    key = None if settings.key is None else read(("key",), settings.key, MISSION)
    book = _identities(settings, read, places, problems)
    vocabularies = _vocabularies(settings, folder, places, problems)
    table = _table(vocabularies, problems)
    thesauri = _thesauri(settings, folder, places, problems)
    if problems or table is None:
        raise DocumentError(problems)
    return NodePlan(
        settings, folder, vocabularies, table, Limits(**settings.limits), key, book, thesauri, places
    )


def check_node_file(path: Path) -> list[Problem]:
    """Return the problems of a node's file; empty if the node can be started."""
    try:
        load_layers(load_node(path).thesauri)
    except DocumentError as error:
        return list(error.problems)
    return []


def _checked(settings: NodeSettings, places: Places) -> Iterator[Problem]:
    """Yield values that do not fit together."""
    known = [limit.name for limit in fields(Limits)]
    for name in settings.limits:
        if name not in known:
            message = f"unknown limit{did_you_mean(name, known)}; limits are {', '.join(known)}"
            meant = likely_meant(name, known)
            yield places.problem(("limits", name), "D342", message, meant=meant, is_key=True)
    if settings.policy not in policies():
        meant = likely_meant(settings.policy, policies())
        yield places.problem(("policy",), "D342", unknown_policy(settings.policy), meant=meant)
    yield from _matching(settings, places)
    for path, message in parameter_faults(settings.policies):
        yield places.problem(("policies", *path), "D342", message)
    if settings.udp is None and settings.peer:
        message = "peers are reached over UDP; give this node's own address: [udp], address"
        yield places.problem(("peer",), "D343", message)
    elif settings.udp is None and not settings.serial:
        message = "this node has no link; give it [udp] with an address, or a [[serial]] port"
        yield places.problem((), "D343", message)
    yield from _addresses(settings, places)
    yield from _discovery(settings, places)
    yield from _numbers(settings, places)


def _matching(settings: NodeSettings, places: Places) -> Iterator[Problem]:
    known = languages().values()
    yield from (
        places.problem((fault.key,), fault.code, fault.message, meant=fault.meant)
        for fault in choice_faults(settings.matcher, settings.condition, known)
    )
    for language in known:
        if settings.matcher in language.partial_algorithms:
            message = f'"{settings.matcher}" does not support all aggregators, but subscriptions may use any'
            yield places.problem(("matcher",), "D392", f"{message}; choose another")


def _addresses(settings: NodeSettings, places: Places) -> Iterator[Problem]:
    named: list[tuple[KeyPath, str]] = [
        (("peer", index, "address"), peer.address) for index, peer in enumerate(settings.peer)
    ]
    if settings.udp is not None:
        named.insert(0, (("udp", "address"), settings.udp.address))
    seen: set[Address] = set()
    for key, text in named:
        address = address_of(text)
        if settings.key is None and not is_loopback(address):
            yield places.problem(key, "D344", f"{text} {NO_KEY}")
        if key[0] == "peer" and address[1] == 0:
            yield places.problem(key, "D342", "a peer has a port; 0 is for this node's own address")
        elif address[1] != 0 and address in seen:
            yield places.problem(key, "D346", f"{text} is listed twice; each node has its own address")
        seen.add(address)


def _discovery(settings: NodeSettings, places: Places) -> Iterator[Problem]:
    """Yield problems of the discovery settings. Interfaces are checked when the node starts."""
    if settings.discovery and settings.udp is None:
        message = "beacons announce this node's UDP address; give it: [udp], address"
        yield places.problem(("discovery",), "D343", message)
        return
    seen: set[tuple[str, str | None, int]] = set()
    for index, one in enumerate(settings.discovery):
        assert settings.udp is not None
        address, path = address_of(settings.udp.address), ("discovery", index)
        is_ipv6 = ":" in address[0]
        if one.broadcast and one.group is not None:
            message = "beacons are either multicast or broadcast; leave out group or broadcast"
            yield places.problem((*path, "broadcast"), "D342", message)
        elif one.broadcast and is_ipv6:
            message = "IPv6 has no broadcast; give a group, such as ff02::4445"
            yield places.problem((*path, "broadcast"), "D342", message)
        elif one.group is not None and (":" in one.group) is not is_ipv6:
            message = (
                f"{one.group} cannot be reached from {settings.udp.address}; both are IPv4, or both IPv6"
            )
            yield places.problem((*path, "group"), "D342", message)
        if is_loopback(address) and one.interface != "lo":
            message = (
                f"nodes on {one.interface} cannot reach {settings.udp.address}; "
                'give [udp] an address beyond loopback, or write interface = "lo"'
            )
            yield places.problem((*path, "interface"), "D342", message)
        place = (one.interface, one.group, one.port)
        if place in seen:
            message = f"{one.interface} is listed twice with the same group; remove one"
            yield places.problem((*path, "interface"), "D346", message)
        seen.add(place)


def _numbers(settings: NodeSettings, places: Places) -> Iterator[Problem]:
    used = {settings.node: "this node itself"}
    for index, node in enumerate(settings.hosts):
        if node in used:
            message = f"{node} is {used[node]} already; name each subscriber of this device once"
            yield places.problem(("hosts", index), "D346", message)
        used.setdefault(node, f"hosts[{index}]")
    named = [("peer", index, peer.node) for index, peer in enumerate(settings.peer)]
    named += [("serial", index, serial.node) for index, serial in enumerate(settings.serial)]
    for kind, index, node in named:
        if node in used:
            message = f"{node} is {used[node]} already; give every node a number of its own"
            yield places.problem((kind, index, "node"), "D346", message)
        used.setdefault(node, f"{kind}[{index}]")
    ports: set[str] = set()
    for index, serial in enumerate(settings.serial):
        if serial.port in ports:
            message = f"{serial.port} is listed twice; a port has one board"
            yield places.problem(("serial", index, "port"), "D346", message)
        ports.add(serial.port)
        port = Path(serial.port)
        if port.is_dir() or port.is_file():
            what = "a folder" if port.is_dir() else "a plain file"
            message = f"{serial.port} is {what}, not a serial port; name its device, such as /dev/ttyACM0"
            yield places.problem(("serial", index, "port"), "D345", message)


def _identities(
    settings: NodeSettings,
    read: Callable[[KeyPath, str, str], Key | None],
    places: Places,
    problems: list[Problem],
) -> IdentityBook | None:
    keys = [
        found
        for index, name in enumerate(settings.identities)
        if (found := read(("identities", index), name, PUBLIC)) is not None
    ]
    try:
        return IdentityBook(keys) if settings.identities else None
    except BadKeyError as error:
        problems.append(places.problem(("identities",), "D346", str(error)))
        return None


def _vocabularies(
    settings: NodeSettings, folder: Path, places: Places, problems: list[Problem]
) -> tuple[str | Path, ...]:
    known = shipped_vocabularies()
    named: list[str | Path] = []
    for index, name in enumerate(settings.vocabularies):
        if not (name.endswith(".toml") or "/" in name):
            if name in known:
                named.append(name)
            else:
                hint = did_you_mean(name, known)
                message = f'no vocabulary "{name}" is shipped{hint} ({listed(known)}, or a .toml file)'
                meant = likely_meant(name, known)
                problems.append(places.problem(("vocabularies", index), "D345", message, meant=meant))
        elif (folder / name).is_file():
            named.append(folder / name)
        else:
            message = f'the file "{name}" does not exist beside the node\'s file'
            problems.append(places.problem(("vocabularies", index), "D345", message))
    return tuple(named) if settings.vocabularies else known


def _thesauri(
    settings: NodeSettings, folder: Path, places: Places, problems: list[Problem]
) -> tuple[str | Path, ...]:
    """Return the thesauri that the file names. Only subscribers read them."""
    named: list[str | Path] = []
    for index, name in enumerate(settings.thesaurus):
        if name in shipped_thesauri():
            named.append(name)
        elif (folder / name).is_file():
            named.append(folder / name)
        else:
            known = listed([*shipped_thesauri(), *THESAURUS_SUFFIXES])
            message = f'the thesaurus "{name}" is neither shipped nor beside the node\'s file ({known})'
            problems.append(places.problem(("thesaurus", index), "D345", message))
    return tuple(named)


def _table(vocabularies: tuple[str | Path, ...], problems: list[Problem]) -> MissionTable | None:
    try:
        return load_mission_table(vocabularies)
    except DocumentError as error:
        problems.extend(error.problems)
        return None
