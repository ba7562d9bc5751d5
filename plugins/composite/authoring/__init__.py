"""What a person does with composites: write, check, describe, explain, decompile."""
