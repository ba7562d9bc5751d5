"""The fuzzy subscription language: XML in, seventeen bytes out, matched by degree."""
