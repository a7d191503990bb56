"""The larger members of a family take longest to compile: the fast part of the suite has one of each family."""

import pytest

LARGE = (
    "Gauss(1)", "Gauss(3)", "Gauss(4)", "Lobatto(2)", "Lobatto(4)", "Lobatto(5)", "Galerkin(1", "Galerkin(3",
    "Galerkin(4", "'lobatto'", "order=6", "order=8", "DormandPrince8", "Nystrom12",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "conformance" and any(name in item.name for name in LARGE):
            item.add_marker(pytest.mark.slow)
