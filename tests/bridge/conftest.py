"""A folder in which all processes of one run of the tests find the records of default runs."""

import os

import pytest

from tests.bridge import defaults


@pytest.fixture(scope="session", autouse=True)
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The folder above those of the single processes, if there are several."""
    own = tmp_path_factory.getbasetemp()
    defaults.SHARED["folder"] = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
