"""Other devices: the folder of bundles, pairing, and one round of taking and telling.

For: `loci sync` and the facade's group. Must not do: decide which of two changes counts (`core.intake.sync` does), open
a socket.
"""
