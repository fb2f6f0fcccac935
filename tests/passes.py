"""Two passes over the tests: without the papers' data, and then, with them, what lacked them.

A test that opens a data set which does not come with the module bears the mark `needs_data`, with
the set's name.  Where that set is not here the test is skipped, and remembered in pytest's cache
until it runs: `pytest --lacked` runs what is remembered.  A test that opens another set fails.
"""

import pytest

from fspca_reproduction.opening import lacking, opening

KEY = "fspca/skipped"  # in pytest's cache: [reason, sets that were lacked] of each test


def pytest_addoption(parser):
    parser.addoption("--lacked", action="store_true", help="run what was skipped for want of data")


def pytest_configure(config):
    config.pluginmanager.register(Memory(config))


def declared(item):
    """Return the sets that a test says that it opens."""
    return [name for mark in item.iter_markers("needs_data") for name in mark.args]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if names := lacking(declared(item)):
        item.user_properties.append(("lacked", names))
        pytest.skip(f"not here: {', '.join(names)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with opening(*declared(item)):
        return (yield)


class Memory:
    """What was skipped when it was last run, over several runs of pytest."""

    def __init__(self, config):
        self.cache = getattr(config, "cache", None)  # there is none with -p no:cacheprovider
        self.skipped = self.cache.get(KEY, {}) if self.cache else {}
        self.asked = [name for name, (_, sets) in self.skipped.items() if sets]
        self.again = config.getoption("--lacked")
        if self.again and self.asked:
            config.args[:] = self.asked

    def pytest_collection_modifyitems(self, items):
        if self.again:
            items[:] = [item for item in items if item.nodeid in self.asked]

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            sets = dict(report.user_properties).get("lacked", [])
            self.skipped[report.nodeid] = [report.longrepr[-1], sets]
        elif report.when == "call":
            self.skipped.pop(report.nodeid, None)

    def pytest_sessionfinish(self, session):
        if self.cache and not hasattr(session.config, "workerinput"):
            self.cache.set(KEY, self.skipped)

    def pytest_terminal_summary(self, terminalreporter):
        if self.again:
            for line in self.told():
                terminalreporter.write_line(line)

    def told(self):
        """Yield what both passes come to."""
        left = {name: sets for name, (_, sets) in self.skipped.items() if sets}
        ran = len(self.asked) - len(left)
        yield f"{len(self.asked)} skipped there for want of data, {ran} of them run here"
        if left:
            yield f"not here: {', '.join(sorted(set().union(*left.values())))}"
        for name, (reason, sets) in self.skipped.items():
            if not sets:
                yield f"skipped for another reason: {name}: {reason}"
        yield f"tests that neither pass covers: {len(self.skipped)}"
