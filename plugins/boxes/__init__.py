"""The language of boxes, number 5: crisp conditions with alternatives (docs/boxes.md)."""
