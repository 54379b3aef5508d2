"""The command line: arguments in, one call to the engine, words or JSON out.

Must not do: shape replies (that is `core.ipc.methods`), open the vault itself.
"""
