"""Open questions: gaps in what is known, and which of them an assistant may ask. Must not: ask by itself."""
