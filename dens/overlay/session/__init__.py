"""The engine that all nodes share: sessions with peers, handshake, transmission, look-ups, limits."""
