"""Robots from parameters, one file a family: textbook and random `trees`, the papers' chains, arms and platforms."""
