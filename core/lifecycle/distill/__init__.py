"""Facts and rules out of episodes by a local model. Must not: believe what has no span in its source."""
