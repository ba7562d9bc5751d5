"""A language whose matches have descriptions, for tests; no scenario subscribes in it."""

from dataclasses import replace
from typing import Any

from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Authoring
from plugins.direct.language import DIRECT
from plugins.language import Match
from watchdog.vector import VectorError


class _Words(Authoring):
    def describe_match(self, match: Match, table: MissionTable) -> str:
        if len(match.detail) != 1:
            raise VectorError(0, "one byte is all that it writes")
        return f"surely {match.detail[0] / 255:.0%}, in {table.vocabularies[0].name} words"


def _words() -> Any:
    return _Words()


LANGUAGE = replace(DIRECT, language_id=77, name="worded", authoring=_words)
