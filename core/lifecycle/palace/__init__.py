"""What makes the palace a place: rooms and their first places, landmarks, furnishing, and plans of older versions.

Must not do: start by itself.
"""
