"""What people do with the language: write, check, describe, explain, draw, decompile."""
