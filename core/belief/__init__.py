"""Claims and evidence: reading claims out of texts, comparing two texts, the trust gate, and the review desk.

Must not do: decide between two claims (that is `core.intake` and the desk), or read time or identity from anywhere but
its arguments.
"""
