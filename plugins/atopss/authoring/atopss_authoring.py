"""Authoring interface of the language.

XML modules are imported only where needed, so that describing bytes does not load them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.atopss.authoring.describe import describe_vector
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.matching.algorithms import DEFAULT_ALGORITHM, matcher_named
from plugins.atopss.shapes.scale import BYTE_TOP
from plugins.atopss.vectors import decode_notification
from plugins.authoring import DEFAULTS, Authoring, Compiled, CompileOptions, Description, VectorKind
from plugins.language import Match, Matcher
from plugins.stamps import stamp_bytes, without_stamp
from watchdog.header import HEADER_LIFETIME, body_of
from watchdog.vector import VectorError

if TYPE_CHECKING:
    from plugins.atopss.authoring.explain import ApproximateExplanation
    from plugins.atopss.authoring.picture import ApproximatePicture
    from plugins.atopss.generator import AtopssGenerator


class AtopssAuthoring(Authoring):
    """Writes, checks, describes, explains and draws approximate subscriptions."""

    @property
    def generator(self) -> "AtopssGenerator":
        from plugins.atopss.generator import AtopssGenerator

        return AtopssGenerator()

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        """Compile a document. All errors raise one `DocumentError`. Nothing is fitted, so `tolerance` has no
        effect.
        """
        from plugins.atopss.authoring.compile import compile_subscription

        return compile_subscription(source, file, table, options)

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        """Return all errors and warnings of a document, also of a publication."""
        from plugins.atopss.authoring.publications import ApproximatePublications, is_publication

        try:
            if not is_publication(source, file):
                return super().check(source, file, table, thesaurus)
            _, warnings = ApproximatePublications(thesaurus).read_with_warnings(source, file, table)
        except DocumentError as error:
            return list(error.problems)
        return list(warnings)

    def compile_publication(
        self, source: bytes, file: str, table: MissionTable, stamp_s: int
    ) -> Compiled | None:
        """Compile a publication to its notification after number and lifetime; None for a subscription."""
        from plugins.atopss.authoring.publications import ApproximatePublications, is_publication

        if not is_publication(source, file):
            return None
        publication, warnings = ApproximatePublications().read_with_warnings(source, file, table)
        body = body_of(publication.vector)
        lifetime = publication.vector[HEADER_LIFETIME]
        return Compiled(stamp_bytes(stamp_s) + without_stamp(body), lifetime, warnings=warnings)

    def meaning(self, body: bytes) -> bytes:
        """Return a body without its creation time."""
        return without_stamp(body)

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        """Describe a vector, byte by byte."""
        return describe_vector(vector, table, kind)

    def describe_match(self, match: Match, table: MissionTable) -> str:
        """Return both degrees of a match."""
        possible, necessary = match.degree_u8 / BYTE_TOP, self.detail_value(match.detail) / BYTE_TOP
        return f"possible {possible:.2f}, necessary {necessary:.2f}"

    def detail_value(self, detail: bytes) -> int:
        """Return the necessity of a match, or raise `VectorError`."""
        if len(detail) != 1:
            raise VectorError(0, "the detail of a match is one byte, its necessity")
        return detail[0]

    def happened_s(self, notification: bytes) -> int:
        """Return its event time in seconds, modulo 65536."""
        return decode_notification(notification).stamp_s

    def loose_matcher(self, table: MissionTable | None, algorithm: str | None, features: str) -> Matcher:
        """Return a matcher by name and options; without a table, bodies are checked structurally only."""
        return matcher_named(DEFAULT_ALGORITHM if algorithm is None else algorithm, table)

    def explain(
        self, vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int
    ) -> "ApproximateExplanation":
        """Explain the result for these values."""
        from plugins.atopss.authoring.explain import explain_values

        return explain_values(vector, table, values, age_s)

    def explain_notification(
        self, vector: bytes, table: MissionTable, notification: bytes
    ) -> "ApproximateExplanation":
        """Explain the result for a notification."""
        from plugins.atopss.authoring.explain import explain_notification

        return explain_notification(vector, table, notification)

    def picture(
        self, vector: bytes, table: MissionTable, compiled: Compiled | None = None
    ) -> "ApproximatePicture":
        """Draw the shape of each attribute."""
        from plugins.atopss.authoring.picture import ApproximatePicture, Panel

        wanted = AtopssCodec(table).subscription(body_of(vector))
        event = table.event_at(wanted.event)
        named = [(one, event.attribute_at(one.attribute)) for one in wanted.predicates]
        return ApproximatePicture(
            [Panel.of(attribute.name, one, None, attribute) for one, attribute in named]
        )

    def decompile(self, vector: bytes, table: MissionTable) -> str:
        """Return XML that compiles to the same vector."""
        from plugins.atopss.authoring.decompile import decompile

        return decompile(vector, table)
