"""Shared by all tests: a compilation cache that outlives one test but never touches the user's."""

import os
import tempfile

os.environ.setdefault("DALEMBERT_CACHE", os.path.join(tempfile.gettempdir(), "dalembert-test-cache"))
