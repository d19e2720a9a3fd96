"""Rows in, pages out: `html.write_report(folder)` reads the tables of a run and writes everything people read.

report.html (one file, opens offline), figures/*.svg|pdf|csv, tables/*.tex and summary.md, all from stored rows alone;
no robot is loaded and no method is run.
"""
