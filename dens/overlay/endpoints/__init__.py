"""SUB/DENS and PUB/DENS: the endpoints of subscribers and publishers."""
