"""The chapter's machines, drawn as it draws them, with a run of letters through each."""

from collections.abc import Callable
from dataclasses import dataclass

from dens_experiments.composite.letters import Looked, judge, letters_at, looked_for, table
from dens_experiments.family import Figure, Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Tell
from plugins.composite.authoring.picture import MachinesPicture
from plugins.composite.authoring.stream import notification_of
from plugins.composite.search.machines import Drawn, Machine, Machines, Trie, chain_steps, drawn
from plugins.composite.search.whole import WholeStream
from plugins.composite.vectors import decode_body


@dataclass(frozen=True, slots=True)
class Run:
    """What a stream of letters made of a pattern's machines: partial matches held and matches, by reading."""

    readings: tuple[str, ...]
    held: tuple[int, ...]
    matches: tuple[tuple[tuple[int, ...], ...], ...]
    """The times of the events of each match."""
    ends: tuple[int, ...]
    """The readings with which the stacks say that a match ends."""


def run_through(looked: Looked, stream: str) -> Run:
    """Feed letters to the machines of a pattern, and to the stacks."""
    one = looked.watched()
    whole = WholeStream(table(), judge())
    whole.watch(one)
    machines = Machines(one)
    held, matches = [], []
    for reading in letters_at(stream):
        event = whole.take(1, notification_of(reading, table()), 1000 * reading.second)
        found = machines.feed(event, _key(looked))
        matches.append(tuple(tuple(part.seconds for _, part in match.events) for match in found))
        held.append(_held(machines.master))
    ends = tuple(found.end.number for found, _ in whole.matches(one))
    return Run(tuple(stream.split()), tuple(held), tuple(matches), ends)


def _key(looked: Looked) -> bytes:
    keys = decode_body(looked.body, 1, table()).keys
    return bytes((15,)) if keys[0] else b""


def _held(machine: Machine) -> int:
    return sum(map(len, machine.lists)) + sum(map(_held, machine.children))


def _machines(looked: Looked) -> list[Drawn]:
    body = decode_body(looked.body, 1, table())
    conditions = [""] * len(looked.names)
    for one in body.conditions:
        bound = f"<={one.high}" if not one.low else f">={one.low}"
        conditions[one.second] += f"@(t{one.second + 1}-t{one.first + 1}{bound})"
    return drawn(body.pattern, looked.names, conditions)


Claims = Callable[[Run, list[Drawn]], tuple[Shape, ...]]


def _panel(title: str, paper: str, looked: Looked, stream: str, claims: Claims) -> Panel:
    ran = run_through(looked, stream)
    machines = _machines(looked)
    same = {place for place, found in enumerate(ran.matches) if found} == set(ran.ends)
    agree = Shape(
        "machines and stacks find the same",
        f"ends at readings {', '.join(map(str, ran.ends)) or 'none'}",
        verdict(same),
    )
    return Panel(
        title,
        "reading",
        "partial matches held",
        ran.readings,
        {
            "partial matches held": Line(tuple((float(count),) for count in ran.held)),
            "matches completed": Line(tuple((float(len(found)),) for found in ran.matches)),
        },
        paper,
        shapes=(*claims(ran, machines), agree),
        remarks=(f"pattern: {looked.text}",),
        form="bars",
        picture=MachinesPicture(machines).svg(),
    )


def _states(expected: int) -> Claims:
    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        count = len(machines[-1].states)
        return (Shape(f"{expected} states", f"{count} states", verdict(count == expected)),)

    return claims


def table61(request: Request, tell: Tell) -> Panel:
    """Match the intrusion in the login history."""
    looked = looked_for(
        "denied; denied; denied @(t3 - t1 < 5min), successful", 'window="PT10M" key="address"'
    )
    stream = "denied@10 denied@250 denied@250 successful@328 logoff@356 successful@448"

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        found = [match for matches in ran.matches for match in matches]
        seen = "; ".join(map(str, found))
        return (
            Shape("e0, e1, e2, e3 are the one match", seen, verdict(found == [(10, 250, 250, 328)])),
            Shape(
                "no two events happen in one second",
                "e1 and e2 do, and are distinguished by their numbers",
                "differs",
                "table 6.1 has two events at 12:42:10",
            ),
        )

    return _panel("Table 6.1: logins", "cs_intrusion is matched by e0, e1, e2, e3", looked, stream, claims)


def fig63(request: Request, tell: Tell) -> Panel:
    """Draw F, F, S, S."""
    looked, stream = looked_for("F, F, S, S"), "F@1 F@2 F@3 S@4 S@5 S@6"
    return _panel("Figure 6.3: F, F, S, S", "five states", looked, stream, _states(5))


def fig64(request: Request, tell: Tell) -> Panel:
    """Draw F, F, F @(t3 - t1 < d), S."""
    looked = looked_for("F, F, F @(t3 - t1 < 5s), S")

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        at_third = ran.held[2]
        return (
            *_states(5)(ran, machines),
            Shape("after F@1 F@3 F@4 there are three instances", f"{at_third}", verdict(at_third == 3)),
        )

    paper = "five states; a time condition is one more predicate of its transition"
    return _panel("Figure 6.4: F, F, F @(t3 - t1 < d), S", paper, looked, "F@1 F@3 F@4 S@6", claims)


def fig65(request: Request, tell: Tell) -> Panel:
    """Draw s1; s2; s3; s4."""
    looked, stream = looked_for("s1; s2; s3; s4"), "s1@1 s2@2 s1@3 s3@5 s2@6 s4@9"

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        loops = sum(link.source == link.target for link in machines[-1].links)
        return (
            *_states(5)(ran, machines),
            Shape("each state but the first and the last has a loop", f"{loops} loops", verdict(loops == 3)),
        )

    return _panel("Figure 6.5: s1; s2; …; sk", "k + 1 states, with loops", looked, stream, claims)


def fig66(request: Request, tell: Tell) -> Panel:
    """Draw F; S; F; S @(t4 - t2 < T)."""
    looked = looked_for("F; S; F; S @(t4 - t2 < 6s)")
    paper = "five states; primary and secondary links are timed, self links are not"
    return _panel(
        "Figure 6.6: F; S; F; S @(t4 - t2 < T)", paper, looked, "F@1 S@2 S@4 F@5 S@9 S@12", _states(5)
    )


def fig67(request: Request, tell: Tell) -> Panel:
    """Draw three terms."""
    looked = looked_for("F, F, S; F, S; F @(t6 - t2 < 20s), S")
    stream = "F@1 F@2 S@3 F@5 S@6 F@9 S@10"

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        count = len(machines[-1].states)
        return (
            Shape(
                "m states for m primitives, by the text of the algorithm",
                f"{count} states, as the figure draws them",
                verdict(count == 7, count == 8),
                "" if count == 7 else "the text forgets the first state",
            ),
        )

    paper = "the text says m states and draws m + 1"
    return _panel("Figure 6.7: F, F, S; F, S; F @T, S", paper, looked, stream, claims)


def fig68(request: Request, tell: Tell) -> Panel:
    """Draw several machines."""
    looked = looked_for("s1; ((s2, s3) and (s4, s5)); s6; (s7 or s8)")
    stream = "s1@1 s4@2 s5@3 s2@4 s3@5 s6@6 s8@7"

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        states = sum(one.kind == "state" for one in machines)
        booleans = len(machines) - states
        return (
            Shape("three state machines", f"{states}", verdict(states == 3)),
            Shape(
                "one Boolean machine, by the text; two in the figure",
                f"{booleans}",
                verdict(booleans == 1, booleans == 2),
                "" if booleans == 1 else "the figure is right",
            ),
        )

    return _panel(
        "Figure 6.8: several machines", "derived events go from child to parent", looked, stream, claims
    )


def fig69(request: Request, tell: Tell) -> Panel:
    """Merge three machines that begin alike."""
    trie = Trie()
    apart = 0
    for number, text in enumerate(("a; b, c", "a; b, d", "a")):
        looked = looked_for(text)
        steps = chain_steps(decode_body(looked.body, 1, table()).pattern, looked.names)
        assert steps is not None, "these are chains"
        trie.insert(steps, number)
        apart += len(steps) + 1
    links = tuple(trie.links())
    names = dict.fromkeys(["M0", *(link.target for link in links)])
    merged = Drawn("merged", "state", "a; b, c / a; b, d / a", tuple((name, "") for name in names), links)
    return Panel(
        "Figure 6.9: merged machines",
        "machines",
        "states",
        ("apart", "merged"),
        {"states": Line(((float(apart),), (float(trie.states),)))},
        "the merged machine has the states M0 to M5",
        shapes=(
            Shape("six states", f"{trie.states} of {apart}", verdict(trie.states == 6)),
            Shape(
                "states are equivalent if all that leads to them is",
                "a state is the way to it, and whether it has a loop",
                "in part",
                "by the definition no state with a loop is equivalent to any: the loop leads to itself",
            ),
        ),
        form="bars",
        picture=MachinesPicture([merged]).svg(),
    )


def fig611(request: Request, tell: Tell) -> Panel:
    """Three conditions."""
    looked = looked_for("s1; s2 @(t2 - t1 < 3s); s3 @(t3 - t1 < 6s) @(t3 - t2 > 3s)")
    stream = "s1@1 s1@2 s1@3 s2@4 s2@5 s2@6 s3@7 s3@8 s3@9"

    def claims(ran: Run, machines: list[Drawn]) -> tuple[Shape, ...]:
        found = [match for matches in ran.matches for match in matches]
        at_seven = [(1, 4), (2, 4), (3, 4), (3, 5)]
        t3_fails = all(7 - first >= 6 for first, _ in at_seven)
        return (
            Shape("(3, 4, 8) is the one match", f"{found}", verdict(found == [(3, 4, 8)])),
            Shape(
                "at 7 the condition t3 - t1 < 6 fails",
                "it holds for s1 at 2 and 3; t3 - t2 > 3 fails",
                verdict(t3_fails),
                "7 - 2 and 7 - 3 are less than 6; no s2 lies more than 3 before 7",
            ),
        )

    return _panel("Figure 6.11: time lists", "(s1@3; s2@4; s3@8)", looked, stream, claims)


FIGURES = tuple(
    Figure(name, title, measure, frozenset())
    for name, title, measure in (
        ("table6.1", "the intrusion in a login history", table61),
        ("fig6.3", "F, F, S, S", fig63),
        ("fig6.4", "F, F, F within a time, S", fig64),
        ("fig6.5", "s1; s2; …; sk", fig65),
        ("fig6.6", "F; S; F; S within a time", fig66),
        ("fig6.7", "three terms", fig67),
        ("fig6.8", "several machines", fig68),
        ("fig6.9", "merged machines", fig69),
        ("fig6.11", "three time conditions", fig611),
    )
)
