"""Elastic links: the `modes` an arm vibrates in, the `particles` it is made of, and what `validate` asks of it."""
