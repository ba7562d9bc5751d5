"""Detects the kind of files and checks them as they are used together (`dens check`)."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from dens.config.problems import Problem
    from knowledge_manager.graphs.rdf_kind import RdfKind
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.thesaurus.concept import Concept
    from knowledge_manager.thesaurus.thesaurus import Thesaurus

RDF_SUFFIXES: Final = (".ttl", ".jsonld", ".rdf", ".nt")
COMPILED_THESAURUS: Final = ".thesaurus"
COMPILED_TAXONOMY: Final = ".taxonomy"
VECTOR_SUFFIXES: Final = (".sv", ".nv", ".hex")
CHECKED_SUFFIXES: Final = (
    *(".xml", ".rq", ".toml"),
    *VECTOR_SUFFIXES,
    *RDF_SUFFIXES,
    COMPILED_THESAURUS,
    COMPILED_TAXONOMY,
)

TomlKind = Literal["vocabulary", "node", "sweep", "scenario", "nothing"]


@dataclass(frozen=True, slots=True)
class Mission:
    """What a subscription is compiled with: the vocabularies of one mission table, and thesauri on top of the
    shipped one."""

    vocabularies: tuple[str | Path, ...]
    thesauri: tuple[str | Path, ...] = ()


class Checker:
    """Checks files as they are used together.

    A subscription is checked with the vocabularies and thesauri of the scenarios and node files that name it
    or are in its folder. Without such a file, it is checked with the vocabularies among the files, those of
    its own folder first, and with the shipped ones that do not clash with them. Vocabularies that the caller
    names replace all of these.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        vocabularies: Sequence[str] | None,
        thesauri: Sequence[str] | None,
        language: str | None = None,
        rdf_kind: "RdfKind | None" = None,
    ) -> None:
        """Read what the files name. `language` is the language of vectors; `rdf_kind` the kind of RDF files,
        which is detected by default.
        """
        self.language = language
        self._rdf_kind = rdf_kind
        self._sources = list(sources)
        self._named = tuple(vocabularies or ())
        self._thesauri: tuple[str | Path, ...] = tuple(thesauri or ())
        self._kinds = {path: kind_of_toml(path) for path in sources if path.suffix == ".toml"}
        self._own = [path for path, kind in self._kinds.items() if kind == "vocabulary"]
        self._missions = {
            path: mission
            for path, kind in self._kinds.items()
            if kind in ("scenario", "node") and (mission := mission_of(path)) is not None
        }
        self._tables: dict[tuple[str | Path, ...], MissionTable] = {}
        self._words: dict[tuple[str | Path, ...], Thesaurus] = {}
        self._concepts: tuple[Concept, ...] | None = None

    def problems(self) -> "list[Problem]":
        """Return all problems of all files, in order. Raises `DocumentError` if a vocabulary or thesaurus
        that the caller named is invalid.
        """
        if self._named:
            self._table(self._named)
        self._thesaurus(self._thesauri)
        found = [problem for path in self._sources for problem in self.problems_of(path)]
        return list(dict.fromkeys(found))

    def problems_of(self, path: Path) -> "list[Problem]":
        """Return all problems of one file. Its suffix and its keys decide its kind."""
        if path.suffix == ".toml":
            return self._toml_problems(path)
        if path.suffix == COMPILED_THESAURUS:
            return _compiled_thesaurus_problems(path)
        if path.suffix == COMPILED_TAXONOMY:
            return _taxonomy_problems(path)
        if path.suffix in RDF_SUFFIXES:
            return self._rdf_problems(path)
        checks = [self._problems_in(path, mission) for mission in self.missions_for(path)]
        if not self._is_named(path):
            return min(checks, key=lambda problems: sum(one.severity == "error" for one in problems))
        return list(dict.fromkeys(problem for problems in checks for problem in problems))

    def _rdf_problems(self, path: Path) -> "list[Problem]":
        """Return the problems of a thesaurus, a taxonomy or a publication."""
        from dens.config.problems import DocumentError

        try:
            kind = self._rdf_kind or _kind_of_rdf(path)
            if kind == "taxonomy":
                return _taxonomy_problems(path)
            table = self._table(self._own_mission(path).vocabularies)
            if kind == "publication":
                return _publication_problems(path, table)
        except DocumentError as error:
            return list(error.problems)
        from knowledge_manager.lookup.thesaurus_check import check_thesaurus_file

        return check_thesaurus_file(path, table, self._concepts_beside())

    def missions_for(self, path: Path) -> list[Mission]:
        """Return the missions that name this subscription or vector, or else those in the nearest folder
        above it.
        """
        if self._named or not self._missions:
            return [self._own_mission(path)]
        here = path.resolve()
        naming = [mission for mission, names in self._missions.values() if here in names]
        above = {
            where.resolve().parent
            for where, (mission, _) in self._missions.items()
            if mission.vocabularies and where.resolve().parent in here.parents
        }
        nearest = max(above, key=lambda folder: len(folder.parts), default=None)
        beside = [
            mission
            for where, (mission, _) in self._missions.items()
            if mission.vocabularies and where.resolve().parent == nearest
        ]
        chosen = naming or beside or [self._own_mission(path)]
        layered = [Mission(one.vocabularies, (*self._thesauri, *one.thesauri)) for one in chosen]
        return list(dict.fromkeys(layered))

    def _is_named(self, path: Path) -> bool:
        here = path.resolve()
        return any(here in names for _, names in self._missions.values())

    def _problems_in(self, path: Path, mission: Mission) -> "list[Problem]":
        from dens.config.problems import DocumentError

        try:
            table, words = self._table(mission.vocabularies), self._thesaurus(mission.thesauri)
        except DocumentError:
            return []  # reported for the file that names it
        if path.suffix in VECTOR_SUFFIXES:
            from dens.app.subscriptions.languages import chosen_language
            from plugins.authoring.output.vector_lines import check_vector_file
            from plugins.registry import authoring_of

            return check_vector_file(path, authoring_of(chosen_language(self.language)).describe, table)
        return _subscription_problems(path, table, words)

    def table_for(self, path: Path) -> "MissionTable | None":
        """Return the mission table of the first mission of a file; None if it is invalid."""
        from dens.config.problems import DocumentError

        try:
            return self._table(self.missions_for(path)[0].vocabularies)
        except DocumentError:
            return None

    def words_for(self, path: Path) -> "Thesaurus | None":
        """Return the thesaurus of the first mission of a file; None for the shipped one."""
        return self._thesaurus(self.missions_for(path)[0].thesauri)

    def _own_mission(self, path: Path) -> Mission:
        """Return the mission of a file that no scenario and no node file names."""
        if self._named:
            return Mission(self._named, self._thesauri)
        return Mission(_fitting(self._own, path.resolve().parent), self._thesauri)

    def _table(self, vocabularies: tuple[str | Path, ...]) -> "MissionTable":
        from knowledge_manager.mission_table import load_mission_table

        if vocabularies not in self._tables:
            self._tables[vocabularies] = load_mission_table(vocabularies)
        return self._tables[vocabularies]

    def _thesaurus(self, thesauri: tuple[str | Path, ...]) -> "Thesaurus | None":
        """Return these thesauri on top of the shipped one; None for the shipped one alone."""
        if not thesauri:
            return None
        from knowledge_manager.lookup.thesaurus_files import load_layers

        if thesauri not in self._words:
            self._words[thesauri] = load_layers(thesauri)
        return self._words[thesauri]

    def _concepts_beside(self) -> "tuple[Concept, ...]":
        """Return the shipped concepts and those of all valid files."""
        from dens.config.problems import DocumentError
        from knowledge_manager.lookup.thesaurus_files import SHIPPED, concepts_of

        if self._concepts is None:
            found: list[Concept] = []
            names: list[str | Path] = [SHIPPED]
            names += [path for path in self._sources if self._is_thesaurus(path)]
            for name in names:
                try:
                    found += concepts_of(name)
                except DocumentError:
                    continue  # reported for the file itself
            self._concepts = tuple(found)
        return self._concepts

    def _is_thesaurus(self, path: Path) -> bool:
        from dens.config.problems import DocumentError

        try:
            return path.suffix in RDF_SUFFIXES and (self._rdf_kind or _kind_of_rdf(path)) == "thesaurus"
        except DocumentError:
            return False  # reported for the file itself

    def _toml_problems(self, path: Path) -> "list[Problem]":
        kind = self._kinds.get(path) or kind_of_toml(path)
        if kind == "vocabulary":
            from knowledge_manager.vocabulary.vocabulary import check_vocabulary_file
            from plugins.registry import term_fault

            return check_vocabulary_file(path, term_fault) or list(self._clashes(path))
        if kind == "node":
            from dens.node.settings.node_file import check_node_file

            return check_node_file(path)
        if kind == "sweep":
            return _problems_of_sweep(path)
        if kind == "nothing":
            from dens.config.problems import Problem

            message = "empty file; a scenario has [[group]], a vocabulary [[event]], a node file a store"
            return [Problem(str(path), 1, 1, "error", "D356", message)]
        from emulation.scenario import check_scenario_file

        return check_scenario_file(path)

    def _clashes(self, path: Path) -> "Iterator[Problem]":
        """Yield clashes of this vocabulary with others of its mission.

        Clashes of a vocabulary that a scenario or a node file names are reported there. Any other is used
        with the shipped vocabularies and those in the same folder.
        """
        from dens.config.problems import DocumentError, Problem
        from dens.config.reading import read_text
        from knowledge_manager.mission_table import clashes, place_of_clash
        from knowledge_manager.vocabulary.vocabulary import load_vocabulary, shipped_vocabularies

        here = path.resolve()
        used = {
            Path(name).resolve()
            for mission, _ in self._missions.values()
            for name in mission.vocabularies
            if isinstance(name, Path)
        }
        if self._named or here in used:
            return
        neighbours = [
            one for one in self._own if one.resolve().parent == here.parent and one.resolve() not in used
        ]
        loaded = [load_vocabulary(name) for name in shipped_vocabularies()]
        for one in neighbours[: neighbours.index(path) if path in neighbours else 0]:
            try:
                loaded.append(load_vocabulary(one))
            except DocumentError:
                continue  # reported for the file itself
        text = read_text(path)
        for clash in clashes([*loaded, load_vocabulary(path)]):
            if clash.position == len(loaded):
                line, column = place_of_clash(clash, text)
                yield Problem(str(path), line, column, "error", "D214", clash.message)


def _subscription_problems(path: Path, table: "MissionTable", words: "Thesaurus | None") -> "list[Problem]":
    """Return all problems of a document, in the language of its namespace."""
    from dens.config.problems import DocumentError
    from dens.config.reading import read_document
    from plugins.registry import authoring_of, language_of_document

    try:
        source = read_document(path)
        return authoring_of(language_of_document(source, str(path))).check(source, str(path), table, words)
    except DocumentError as error:
        return list(error.problems)


def _kind_of_rdf(path: Path) -> "RdfKind":
    from dens.config.reading import read_document
    from knowledge_manager.graphs.rdf_kind import kind_of_rdf
    from knowledge_manager.rdf_text import FORMATS
    from knowledge_manager.thesaurus.skos import LARGEST_SOURCE

    return kind_of_rdf(read_document(path, LARGEST_SOURCE), str(path), FORMATS[path.suffix])


def _taxonomy_problems(path: Path) -> "list[Problem]":
    from dens.config.problems import DocumentError
    from knowledge_manager.graphs.taxonomy_files import load_taxonomy

    try:
        load_taxonomy(path)
    except DocumentError as error:
        return list(error.problems)
    return []


def _publication_problems(path: Path, table: "MissionTable") -> "list[Problem]":
    """Return the problems of an RDF file as a publication."""
    from dens.app.subscriptions.languages import publication_in
    from dens.config.reading import read_document
    from plugins.registry import language_of_publication

    publication_in(path, language_of_publication(read_document(path), str(path)), table)
    return []


def _fitting(own: Sequence[Path], folder: Path) -> tuple[str | Path, ...]:
    """Return vocabularies that form one table: the nearest of `own` first, then shipped ones that fit."""
    from dens.config.problems import DocumentError
    from knowledge_manager.mission_table import load_mission_table
    from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies

    def distance(path: Path) -> int:
        where = path.resolve().parent
        return 0 if where == folder else 1 if where in folder.parents else 2

    taken: list[str | Path] = []
    candidates: list[str | Path] = [*sorted(own, key=distance), *shipped_vocabularies()]
    for name in candidates:
        try:
            load_mission_table([*taken, name])
        except DocumentError:
            continue  # reported for the file itself
        taken.append(name)
    return tuple(taken)


def mission_of(path: Path) -> "tuple[Mission, frozenset[Path]] | None":
    """Return the mission of a scenario or a node file, and the subscriptions that it names; None if the file
    is invalid, which is reported for the file itself.
    """
    document = _document(path)
    if document is None:
        return None
    from knowledge_manager.vocabulary.vocabulary import shipped_vocabularies

    folder, shipped = path.parent, shipped_vocabularies()
    vocabularies = [
        name if name in shipped else folder / name for name in _names(document.get("vocabularies"))
    ]
    if not vocabularies and "store" in document:
        vocabularies = list(shipped)
    thesauri = [folder / name for name in _names(document.get("thesaurus"))]
    tables = document.get("subscription")
    named = [one.get("file") for one in tables if isinstance(one, dict)] if isinstance(tables, list) else []
    files = frozenset(
        (folder / name).resolve() for name in named if isinstance(name, str) and "\0" not in name
    )
    return Mission(tuple(vocabularies), tuple(thesauri)), files


def _names(given: Any) -> list[str]:
    listed = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
    return [name for name in listed if isinstance(name, str) and "\0" not in name]


def _compiled_thesaurus_problems(path: Path) -> list["Problem"]:
    from dens.config.problems import DocumentError
    from knowledge_manager.lookup.thesaurus_files import load_thesaurus

    try:
        load_thesaurus(path)
    except DocumentError as error:
        return list(error.problems)
    return []


def _problems_of_sweep(path: Path) -> "list[Problem]":
    from dens.config.problems import DocumentError
    from spark_analysis.sweep.plan import read_plan
    from spark_analysis.sweep.run import check_variants

    try:
        check_variants(read_plan(path))
    except DocumentError as error:
        return list(error.problems)
    return []


def kind_of_toml(path: Path) -> TomlKind:
    """Return the kind of a TOML file by its keys. If the syntax is invalid, the text decides, so that the
    right checker reports it.
    """
    from dens.config.problems import DocumentError
    from dens.config.reading import read_text

    try:
        text = read_text(path)
    except DocumentError:
        return "scenario"  # whose check reports why the file is unreadable

    document = _document(path)
    if document is not None:
        if not document:
            return "nothing"
        if "event" in document:
            return "vocabulary"
        return "node" if "store" in document else "sweep" if "scenario" in document else "scenario"
    for key, kind in (("event", "vocabulary"), ("store", "node")):
        if f"[[{key}" in text or text.startswith(f"{key} =") or f"\n{key} =" in text:
            return "vocabulary" if kind == "vocabulary" else "node"
    return "scenario"


def _document(path: Path) -> dict[str, Any] | None:
    from dens.config.problems import DocumentError
    from dens.config.reading import read_text

    try:
        return tomllib.loads(read_text(path))
    except (DocumentError, ValueError, RecursionError):
        return None
