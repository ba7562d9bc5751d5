"""SUB/DENS and PUB/DENS: the engines of subscribers and publishers."""
