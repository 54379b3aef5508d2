"""What the pages draw: graph, palace, timeline and entities, read as frozen snapshots.

Must not: write, except places and names the person gives.
"""
