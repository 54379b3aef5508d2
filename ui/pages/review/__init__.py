"""The Review page: the conflict desk. Two texts side by side, why they cannot both stand, one suggestion, one key each.

Must not do: know another page, or decide anything the person did not press.
"""
