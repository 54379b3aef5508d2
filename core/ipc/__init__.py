"""The public face: the local socket on which assistants and the command line speak with the engine.

Protocol (`resources/protocol.json` is the one list of methods), framing, handshake, sessions, limits, pairing, the
server on the engine's loop, and a client library. The JSON of every command-line verb is shaped here, in `verbs`.
Must not do: open the vault, trust anything a caller says about itself, hold memory text longer than a call.
"""
