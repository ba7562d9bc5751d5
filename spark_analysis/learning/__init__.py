"""What past readings teach: terms for vocabularies, and which state follows which."""
