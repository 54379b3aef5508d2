"""One file of the person's that is to be attached: read once, told by its content, its words and its picture read out.

Must not do: keep or write anything, follow a link, or go by a file's name.
"""
