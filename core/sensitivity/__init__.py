"""Finds what is sensitive in a text by rules (E10.5.1, E10.5.2): identities, cards, secrets, contacts, homes, health.

Pure functions of a text: no model, no row, no clock. Must not do: any I/O but reading its own vocabularies from
`resources/sensitivity` and the common words of `resources/lexicon`, any logging, any decision on what is stored or
shown. Time is linear in the length of a text, whatever it says: every pattern is bounded, and what surrounds a
candidate is looked at within a fixed reach.
"""
