"""What the engine measures of itself: latency, resources, and whether somebody is at work.

Must not: keep anything beyond the open vault, or know a memory.
"""
