"""Sphinx: how the site is made. `make site` copies this file beside the pages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "dalembert"
extensions = ["myst_parser", "mathml", "accessible"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "dalembert"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse on a page from the disk
suppress_warnings = ["myst.header", "toc.not_included", "myst.xref_missing"]
highlight_options = {"default": {"stripall": False}}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
