"""What was changed and by whom: steps, imports, the audit, the archive.

Must not do: change history; an undo is a new step.
"""
