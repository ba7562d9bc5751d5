"""What words mean: vocabularies, the mission table they form together, and how files are refused."""
