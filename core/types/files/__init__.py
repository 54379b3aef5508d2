"""Files of memories as the engine tells of them: what is attached, what was read out of it, and where it stands.

Must not do: hold logic.
"""
