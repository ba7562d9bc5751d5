"""What every engine has: sessions with peers, handshake, transmission, limits."""
