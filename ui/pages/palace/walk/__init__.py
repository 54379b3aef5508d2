"""The walk along landmarks and their rehearsal: the round, its card over the plan, and what moves both."""

from __future__ import annotations
