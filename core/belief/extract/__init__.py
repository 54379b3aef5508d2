"""Reading claims and statements out of a text by rules. Must not: use a model, a clock or the vault."""
