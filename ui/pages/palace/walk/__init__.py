"""The walk along landmarks and their rehearsal: the round, its card over the plan, and what moves both.

Must not do: choose landmarks, decide when one is due.
"""

from __future__ import annotations
