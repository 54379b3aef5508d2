"""What every method is made of: its entry in the table, its parameters, the schema of its answer."""
