"""What a person does with a fuzzy subscription: write, check, describe, explain, draw, decompile."""
