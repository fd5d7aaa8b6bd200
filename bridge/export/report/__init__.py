"""A report as a site of HTML pages: statement, table, plots, errata and proof of each result, and an overview.

Imports jinja2 and latex2mathml (extra `report`), so it is itself imported only when a report is written.
"""
