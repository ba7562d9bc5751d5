"""DENS: content-based publish/subscribe for networks that are rarely connected."""
