"""The engine: what runs while a vault is open, and the one door to it (`core.engine.facade`).

Threads are born in `core.engine.runtime.threads` only. Must not do: SQL of its own
beyond the journal, anything of Qt, anything of the socket.
"""
