"""Other engines as ordinary methods: each file converts a Robot to the engine's model and back to our conventions.

An engine is imported in ``prepare`` only; where it is not installed, its method says so and stays out of the way.
"""
