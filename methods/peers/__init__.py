"""Other engines as ordinary methods: each file converts a Robot to the engine's model and back to our conventions.

An engine is imported in ``prepare`` only. If it is not installed, `supports` returns that as the reason.
"""
