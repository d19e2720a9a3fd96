"""Sweeps that a file describes: robots x methods x options x tolerances x seeds, up to millions of cells.

reading     the campaign file (.toml), checked key by key
campaign    the campaign, and its cells in blocks, made one after the other
kinds       the jobs: agreement, counts, simulation
running     blocks to processes or a cluster, answers to the journal, the journal to campaign.csv
summary     a screen of text
"""
