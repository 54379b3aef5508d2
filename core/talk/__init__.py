"""From talk to statements: who speaks, whom pronouns mean, what a sentence states, and that rewritten to stand alone.

Pure: text and types in, statements out. Must not do: know the vault, ask a model server, or invent a word that is
neither in the talk nor a name, a date or a small word of grammar.
"""
