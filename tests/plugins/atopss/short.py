"""A mission with short axes, for laws about the ends of domains."""

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.codec import AtopssCodec
from tests.paths import ROOT

SHORT = load_mission_table([ROOT / "tests/plugins/atopss/short.toml"])
EVENT = 5
LENGTHS = AtopssCodec(SHORT).lengths(EVENT)
"""How long the axis of each attribute is."""
