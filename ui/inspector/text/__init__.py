"""The text of a memory: read, written anew, warned of.

Must not do: interpret a text; it is hostile, and shown as it is written.
"""
