"""The client library, blocking and asynchronous, on one half of the wire. Must not: import anything of the engine."""
