"""`loci mcp`: a thin server of the Model Context Protocol on standard input and output, in front of the socket.

It is one more client of Loci: paired, with a token of its own and nothing but its grants. Tools, schemas and errors
are derived from `resources/protocol.json`. Must not do: open the vault, hold a key of it, import `core.engine`, Qt or
numpy, write anything but messages to standard output, put memory text into a log.
"""
