"""The journal: what was changed and by whom, what was imported, the audit.

Must not do: show the words of a memory, but where the person asks which ones a change touched.
"""
