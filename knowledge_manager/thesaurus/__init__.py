"""Thesauri: concepts, labels, compiled form."""
