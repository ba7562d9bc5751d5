"""Reads RSS, Atom, RDF and CMS feeds as graph publications."""
