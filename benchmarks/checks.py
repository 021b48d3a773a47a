# SPDX-License-Identifier: GPL-2.0-only
"""Results of tests that are programs of their own."""

RESULTS = {"passed": 0, "failed": 0}


def check(what, good, why=""):
    """One result"""
    RESULTS["passed" if good else "failed"] += 1
    if not good:
        print(f"FAIL {what}: {why}")


def end():
    """Print the sum: N passed, N failed. The exit status"""
    print("{passed} passed, {failed} failed".format(**RESULTS))
    return 1 if RESULTS["failed"] or not RESULTS["passed"] else 0
