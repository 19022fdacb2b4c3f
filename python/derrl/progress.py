"""What a terminal and a notebook show of a run that is under way."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from .notebook import block, rules

Show = Callable[[int, int, str], None]


def bar(title: str) -> Show | None:
    """A function that shows progress where somebody looks: a terminal or a notebook. Elsewhere none."""
    display = _notebook()
    if display is not None:
        return _NotebookBar(title, display)
    if sys.stderr is not None and sys.stderr.isatty():
        return _TerminalBar(title)
    return None


def _notebook() -> Any:
    """IPython's display function, within a notebook."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return None
    running = shell.get_ipython()
    if running is None or "IPKernelApp" not in running.config:
        return None
    from IPython.display import display

    return display


class _Bar:
    def __init__(self, title: str) -> None:
        self.title, self.start = title, time.monotonic()

    def line(self, done: int, message: str) -> str:
        decisions = f"{done:,} decisions  " if done else ""
        return f"{self.title}  {decisions}{message}  {time.monotonic() - self.start:.0f} s"


class _TerminalBar(_Bar):
    def __call__(self, done: int, planned: int, message: str) -> None:
        sys.stderr.write("\r\x1b[K" + self.line(done, message))
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _NotebookBar(_Bar):
    def __init__(self, title: str, display: Any) -> None:
        super().__init__(title)
        self.handle = display({"text/plain": title}, raw=True, display_id=True)
        self.rules = ""

    def best(self, policy: str) -> None:
        """Shows the best rules so far below the bar."""
        self.rules = rules(policy)

    def __call__(self, done: int, planned: int, message: str) -> None:
        line = self.line(done, message)
        self.handle.update({"text/plain": line, "text/html": block(line) + self.rules}, raw=True)

    def close(self) -> None:
        line = self.line(0, "done")
        self.handle.update({"text/plain": line, "text/html": block(line)}, raw=True)


def close(show: Show | None) -> None:
    """Clears a bar."""
    end = getattr(show, "close", None)
    if end is not None:
        end()
