"""Sweeps that a file describes: robots x methods x options x tolerances x seeds, up to millions of cells.

reading     the campaign file (.toml), checked key by key; values has the small parsers
campaign    what it describes, and its cells in blocks, made one after the other
kinds       what is done for a cell: agreement, counts, simulation; runs in other processes
running     blocks to processes or a cluster, answers to the journal, the journal to campaign.csv
tally       a screen of summary
"""
