"""Joins of binding tables: which nodes of the variables satisfy all edges together, one variable at a time.

A table has the nodes of one or two variables that an edge allows. The variable with the fewest tables is
eliminated first, after its constraints were tested; a non-empty result is a match.
"""

from collections.abc import Iterable
from itertools import product

from plugins.gtopss.match import MOST_WORK, Judgement, Verdict, form_of, judged, plan_of
from plugins.gtopss.pattern import Pattern
from plugins.gtopss.statements import Pairs, Statements
from plugins.work import WorkExceeded, WorkMeter

Rows = set[tuple[int, ...]]
Table = tuple[tuple[int, ...], Rows]
"""Variables, and their nodes row by row."""


def judged_by_join(pattern: Pattern, statements: Statements, found: list[Pairs]) -> Judgement:
    """Return the judgement of a pattern whose edges match these pairs of nodes. Undecided pairs are undecided
    by definition; a join with more than `MOST_WORK` rows is abandoned, and the definition decides.
    """
    meter = WorkMeter(MOST_WORK)
    if plan_of(pattern).cuts:
        by_definition = judged(form_of(pattern), statements)
        if by_definition.verdict is Verdict.UNDECIDED:
            return by_definition
    try:
        tables = [
            _table(edge.subject, edge.object, pairs) for edge, pairs in zip(pattern.edges, found, strict=True)
        ]
        nodes = range(len(statements.nodes))
        for one, other in pattern.differing:
            meter.spend(len(nodes) ** 2)
            apart: Rows = {(a, b) for a, b in product(nodes, nodes) if statements.differ(a, b)}
            tables.append(((one, other), apart))
        is_matched = _is_joined(pattern, statements, tables, meter)
    except WorkExceeded:
        again = judged(form_of(pattern), statements)
        return Judgement(again.verdict, again.work + meter.spent)
    return Judgement(Verdict.MATCHED if is_matched else Verdict.NOT, meter.spent)


def _table(subject: object, object_: object, pairs: Iterable[tuple[int, int]]) -> Table:
    if isinstance(subject, int) and isinstance(object_, int):
        if subject == object_:
            return (subject,), {(one,) for one, other in pairs if one == other}
        return (subject, object_), set(pairs)
    if isinstance(subject, int):
        return (subject,), {(one,) for one, _ in pairs}
    if isinstance(object_, int):
        return (object_,), {(other,) for _, other in pairs}
    return (), {()} if list(pairs) else set()


def _is_joined(pattern: Pattern, statements: Statements, tables: list[Table], meter: WorkMeter) -> bool:
    left = set(range(pattern.variables))
    while left and all(rows for _, rows in tables):
        variable = min(left, key=lambda one: (len({v for vs, _ in tables if one in vs for v in vs}), one))
        own = sorted((table for table in tables if variable in table[0]), key=lambda table: len(table[1]))
        joined = own[0]
        for table in own[1:]:
            joined = natural_join(joined, table, meter)
        at = joined[0].index(variable)
        passing = {row[at] for row in joined[1]}
        for one in pattern.constraints_on(variable):
            meter.spend(len(passing))
            passing = statements.passing(one, passing)
        kept = {row[:at] + row[at + 1 :] for row in joined[1] if row[at] in passing}
        tables = [table for table in tables if variable not in table[0]]
        tables.append((joined[0][:at] + joined[0][at + 1 :], kept))
        left.remove(variable)
    return all(rows for _, rows in tables)


def natural_join(one: Table, other: Table, meter: WorkMeter) -> Table:
    """Return the rows of two tables that agree on their common variables; each row is a unit of work."""
    common = [variable for variable in one[0] if variable in other[0]]
    mine = [one[0].index(variable) for variable in common]
    theirs = [other[0].index(variable) for variable in common]
    rest = [at for at, variable in enumerate(other[0]) if variable not in common]
    partners: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for row in other[1]:
        partners.setdefault(tuple(row[at] for at in theirs), []).append(tuple(row[at] for at in rest))
    rows: Rows = set()
    for row in one[1]:
        fitting = partners.get(tuple(row[at] for at in mine), ())
        meter.spend(1 + len(fitting))
        rows.update(row + more for more in fitting)
    return (*one[0], *(other[0][at] for at in rest)), rows
