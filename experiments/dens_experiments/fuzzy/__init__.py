"""The figures of the paper on approximate event notification: 6 (NEMAN) and 7a to 7i."""
