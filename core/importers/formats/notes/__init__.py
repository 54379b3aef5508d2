"""Notes of a person, from the programs in which they are written.

Must not do: take a file's date for the time of what a note tells.
"""
