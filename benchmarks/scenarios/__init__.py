"""The papers' experiments, one file per paper: each runs through any method that supports its robot.

`simulate` in the parent folder does the integration; a file here says robot, inputs, horizon, measures and claims.
"""
