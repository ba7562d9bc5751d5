"""HTML tables and SVG figures."""
