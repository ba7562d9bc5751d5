"""What a run writes down: tables of facts in Parquet."""
