"""Thesauri: concepts, labels, links, and the compiled form."""
