"""Verbs on entities: create, change, merge. Must not: guess that two entities are one."""
