"""Vocabularies, the mission table that they form, thesauri, and graphs of RDF."""
