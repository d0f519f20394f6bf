# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin for test suites of others. With --differences FILE, tests that are known to end differently with leeway
must fail, and with the words the list expects; a test that passes all the same fails, so that the list stays true, and so
does an entry without a test. At the end it says how often leeway was called, and fails if it never was."""
from __future__ import annotations

import collections
import functools
import pathlib
import re
import tomllib

import pytest

CALLS = collections.Counter()


def count(owner, name, what):
    """From now on calls of owner.name are counted."""
    inner = getattr(owner, name)

    @functools.wraps(inner)
    def counting(*args, **options):
        CALLS[what] += 1
        return inner(*args, **options)

    setattr(owner, name, counting)


class Difference:
    """One entry of the list: `test` is the id of a test, in which a star stands for anything."""

    def __init__(self, test, says, why):
        self.test, self.says, self.why = test, says, why
        self.pattern = re.compile(".*".join(map(re.escape, test.split("*"))))

    def is_about(self, nodeid):
        return self.pattern.fullmatch(nodeid) is not None


def pytest_addoption(parser):
    parser.addoption("--differences", type=pathlib.Path, help="what is known to differ with leeway (TOML)")


def pytest_configure(config):
    config.leeway_differences = []
    if config.option.differences:
        entries = tomllib.loads(config.option.differences.read_text())["difference"]
        config.leeway_differences = [Difference(**entry) for entry in entries]


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(config, items):
    for item in items:
        item.leeway_difference = next((entry for entry in config.leeway_differences if entry.is_about(item.nodeid)), None)
    found = {id(item.leeway_difference) for item in items}
    in_part = {name.partition("::")[0] for name in config.args if "::" in name}
    files = {item.nodeid.partition("::")[0] for item in items} - in_part
    lost = [entry.test for entry in config.leeway_differences
            if entry.test.partition("::")[0] in files and id(entry) not in found]
    if lost:
        raise pytest.UsageError(f"the list of differences names tests that do not exist: {', '.join(lost)}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report, difference = outcome.get_result(), item.leeway_difference
    if difference is None or report.when != "call" or report.skipped:
        return
    if report.passed:
        report.outcome = "failed"
        report.longrepr = f"a difference that no longer occurs, listed in {item.config.option.differences}: {difference.why}"
    elif difference.says in str(report.longrepr):
        report.outcome, report.wasxfail, report.leeway_difference = "skipped", difference.why, difference.why


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of several processes
        session.config.workeroutput["leeway_calls"] = dict(CALLS)
    elif not CALLS and session.testscollected and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_testnodedown(node):
    CALLS.update(getattr(node, "workeroutput", {}).get("leeway_calls", {}))


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats
    differences = [report for report in reports.get("xfailed", []) if hasattr(report, "leeway_difference")]
    calls = ", ".join(f"{number} {what}" for what, number in sorted(CALLS.items()))
    terminalreporter.write_line(f"leeway: {len(reports.get('passed', []))} passed, {len(differences)} documented differences; "
                                f"{calls or 'it was never called: this run says nothing about it'}")
