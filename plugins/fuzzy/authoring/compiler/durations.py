"""Durations as ISO 8601 writes them; vocabularies write them too, so they are read in `knowledge_manager`."""

from knowledge_manager.durations import duration_s, written_duration

__all__ = ["duration_s", "written_duration"]
