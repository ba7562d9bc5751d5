"""Local and distributed data dictionaries (LDD, SDDD): who offers what."""
