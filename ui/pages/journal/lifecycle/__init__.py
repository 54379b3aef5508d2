"""The journal's tabs of the lifecycle: the archive, proposed relations, health, and the help on all of it.

Must not do: start a job; `jobs` does.
"""
