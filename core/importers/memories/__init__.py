"""Memories of other stores: MCP memory server, mem0, OpenMemory. Must not: store anything."""
