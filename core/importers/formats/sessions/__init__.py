"""What assistants on this machine write as they work: sessions of command lines and editors.

Must not do: store anything.
"""
