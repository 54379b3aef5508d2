"""Claims and evidence: the structured reading of memories.

Must not do: decide between two claims (that is `core.intake` and the desk), or
read time or identity from anywhere but its arguments.
"""
