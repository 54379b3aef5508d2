"""What reads like an instruction to an assistant, in whatever disguise, and what may leave for one.

Must not: say what becomes of a text; intake and egress do.
"""
