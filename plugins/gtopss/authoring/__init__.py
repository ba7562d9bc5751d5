"""What a person does with patterns of graphs: write, check, describe, explain, take back to XML."""
