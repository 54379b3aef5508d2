"""The health of the palace, what of its work rests, and how it keeps itself in order.

Must not do: change the palace; it tells, and leads to where something is done.
"""
