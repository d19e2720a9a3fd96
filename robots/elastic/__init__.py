"""Elastic links: `modes` (shapes of vibration), `particles` (motion and energy) and `validate` (input checks)."""
