"""What a person does with boxes: write, check, describe, explain, decompile."""
