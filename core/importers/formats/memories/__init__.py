"""What other memory stores hold about a person.

Must not do: bring back what was deleted there, or take another store's numbers for its own.
"""
