"""Lists: rows under headings, how they are drawn, looked through by keyboard and read aloud.

Must not do: ask the engine, or know a page: what is in a row is given to it.
"""
