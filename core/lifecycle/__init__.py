"""The scheduled work: here the arranging of the palace.

Must not do: start by itself; the engine decides when.
"""
