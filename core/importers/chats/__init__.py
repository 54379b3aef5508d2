"""Exports of assistants: ChatGPT, Claude, Claude Code, Codex. Must not: store anything."""
