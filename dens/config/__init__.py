"""Files that people write: how they are read, refused with place and code, and written whole."""
