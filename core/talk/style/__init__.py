"""How a statement reads: the pronoun of its speaker, words of chat written out, its parts in order, and said but once.

Must not do: read what a sentence states, or bring in a word of meaning that was not said.
"""
