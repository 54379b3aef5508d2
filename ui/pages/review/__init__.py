"""The Review page: two conflicting texts side by side, why both cannot be true, one suggestion, one key each.

Must not do: know another page, or decide anything the person did not press.
"""
