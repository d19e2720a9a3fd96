"""Traced code."""
