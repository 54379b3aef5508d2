"""`loci chat`: a terminal chat with a model of this machine, which asks the engine over the socket as any client does.

Must not do: import the engine, open the vault, keep a text on disk.
"""
