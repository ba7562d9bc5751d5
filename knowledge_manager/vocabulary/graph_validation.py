"""Validates the `[[graph]]` tables of a vocabulary file and converts them to graph classes."""

from collections.abc import Iterator

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant, listed
from dens.config.toml_positions import Path, TomlPositions
from knowledge_manager.graphs.taxonomy import NO_TAXONOMY, Taxonomy
from knowledge_manager.graphs.taxonomy_files import FindTaxonomy, shipped_taxonomies
from knowledge_manager.graphs.terms import TermError, iri
from knowledge_manager.vocabulary.event_class import NOTIFICATION_LIFETIME_S
from knowledge_manager.vocabulary.graph_class import Facet, GraphClass
from knowledge_manager.vocabulary.schema import GraphTable, VocabularyTable


class GraphValidator:
    """Checks of graph classes that involve several keys."""

    def __init__(
        self, table: VocabularyTable, positions: TomlPositions, file: str, taxonomy: FindTaxonomy
    ) -> None:
        self._table = table
        self._positions = positions
        self._file = file
        self._find = taxonomy
        self._found: dict[str, Taxonomy] = {}

    def problems(self) -> Iterator[Problem]:
        for position, graph in enumerate(self._table.graph):
            path: Path = ("graph", position)
            for prefix, namespace in graph.namespaces.items():
                try:
                    iri(namespace)
                except TermError as error:
                    yield self._problem((*path, "namespaces", prefix), "D507", str(error))
            for place, name in enumerate(graph.terms):
                yield from self._check_name(graph, name, (*path, "terms", place))
            for place, facet in enumerate(graph.facet):
                for at, name in enumerate(facet.properties):
                    yield from self._check_name(graph, name, (*path, "facet", place, "properties", at))
            yield from self._check_facets(graph, path)
            yield from self._check_taxonomy(graph, path)

    def _check_name(self, graph: GraphTable, name: str, path: Path) -> Iterator[Problem]:
        prefix, separator, _ = name.partition(":")
        if not separator or prefix not in graph.namespaces:
            known = list(graph.namespaces)
            message = f'"{name}" has no prefix of the namespaces ({listed(known)})'
            hint = did_you_mean(prefix, known)
            meant = tuple(f"{one}:{name.partition(':')[2]}" for one in likely_meant(prefix, known))
            yield self._positions.problem(self._file, path, "D515", message + hint, meant=meant)
            return
        try:
            iri(_expanded(graph, name))
        except TermError as error:
            yield self._problem(path, "D507", str(error))

    def _check_facets(self, graph: GraphTable, path: Path) -> Iterator[Problem]:
        owners: dict[str, str] = {}
        opened = ""
        for place, facet in enumerate(graph.facet):
            inner = (*path, "facet", place)
            if not facet.properties and not facet.open:
                message = f'facet "{facet.name}" has no properties; list some, or set open = true'
                yield self._problem(inner, "D509", message)
            if facet.open and opened:
                message = f'two facets are open, "{opened}" and "{facet.name}"; only one may be'
                yield self._problem((*inner, "open"), "D509", message)
            opened = opened or (facet.name if facet.open else "")
            for at, name in enumerate(facet.properties):
                if name in owners:
                    message = f'{name} already belongs to facet "{owners[name]}"'
                    yield self._problem((*inner, "properties", at), "D509", message)
                owners.setdefault(name, facet.name)

    def _check_taxonomy(self, graph: GraphTable, path: Path) -> Iterator[Problem]:
        if graph.taxonomy is None or graph.taxonomy in self._found:
            return
        try:
            self._found[graph.taxonomy] = self._find(graph.taxonomy)
        except DocumentError as error:
            if error.problems[0].line:
                yield from error.problems
            else:
                reasons = "; ".join(problem.message for problem in error.problems)
                code, meant = error.problems[0].code, likely_meant(graph.taxonomy, shipped_taxonomies())
                place, message = (*path, "taxonomy"), f"{graph.taxonomy}: {reasons}"
                yield self._positions.problem(self._file, place, code, message, meant=meant)

    def graph_class(self, graph: GraphTable, lifetime_s: int | None) -> GraphClass:
        """Return the graph class of a table without problems."""
        facets = tuple(
            Facet(
                one.name,
                one.index,
                tuple(_expanded(graph, name) for name in one.properties),
                one.open,
                one.about,
            )
            for one in sorted(graph.facet, key=lambda one: one.index)
        )
        return GraphClass(
            graph.name,
            graph.index,
            dict(graph.namespaces),
            tuple(dict.fromkeys(_expanded(graph, name) for name in graph.terms)),
            facets,
            NO_TAXONOMY if graph.taxonomy is None else self._found[graph.taxonomy],
            graph.most_bytes,
            graph.about,
            lifetime_s or NOTIFICATION_LIFETIME_S,
            graph.taxonomy or "",
        )

    def _problem(self, path: Path, code: str, message: str) -> Problem:
        return self._positions.problem(self._file, path, code, message)


def _expanded(graph: GraphTable, name: str) -> str:
    prefix, _, rest = name.partition(":")
    return graph.namespaces[prefix] + rest
