# SPDX-License-Identifier: GPL-2.0-only
"""Terminals: one that tmux drives, for commands with a screen, and one of script(1), for their output."""

import os
from pathlib import Path

from support import SCRATCH, run, sanitizer_report, until


class Screen:
    """A command on a terminal of its own, driven through tmux: a context manager."""

    def __init__(self, columns, rows, command, cwd):
        self.size, self.command, self.cwd = (columns, rows), command, Path(cwd)

    def tmux(self, *words, status=0):
        return run("tmux", "-L", f"codetag-test-{os.getpid()}", *words, status=status).out

    def __enter__(self):
        self.tmux("kill-server", status=None)
        columns, rows = self.size
        # A relative path, for messages of a line to fit into it.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "-c", self.cwd,
                  f"{self.command} 2>{SCRATCH}/screen.err; echo left $?; sleep 600")
        return self

    def __exit__(self, failed, *_):
        self.tmux("kill-server", status=None)
        path = SCRATCH / "screen.err"
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        if sanitizer_report(text) and failed:
            print(text)
        else:
            assert not sanitizer_report(text), text

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def now(self, text):
        return text in self.text()

    def has(self, *texts):
        """Wait for each of the texts."""
        for text in texts:
            try:
                until(lambda: self.now(text))
            except AssertionError:
                raise AssertionError(f"no {text!r} on the screen:\n{self.text()}") from None

    def lacks(self, text):
        """Wait until the text is gone."""
        try:
            until(lambda: not self.now(text))
        except AssertionError:
            raise AssertionError(f"{text!r} stays on the screen:\n{self.text()}") from None


def on_terminal(command, **env):
    """The output of a command of the shell on a terminal, by script(1)"""
    return run("script", "-qec", command, "/dev/null", env=env, merge=True, status=None)
