"""The protocol: method schema, messages, strict JSON, sessions, times, and where the socket lies.

Must not: do any I/O beyond the socket's path.
"""
