"""Progress bars in a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

from .notebook import curve, progress

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

    @staticmethod
    def share(done: int, planned: int) -> float:
        return min(1.0, done / planned) if planned else 0.0

    def line(self, done: int, planned: int, message: str) -> str:
        seconds = time.monotonic() - self.start
        if not planned:
            return f"{self.title}  {done:,} decisions  {message}  {seconds:.0f} s"
        share = self.share(done, planned)
        filled = round(24 * share)
        return f"{self.title} [{'#' * filled}{'.' * (24 - filled)}] {share:4.0%}  {message}  {seconds:.0f} s"


class _TerminalBar(_Bar):
    def __call__(self, done: int, planned: int, message: str) -> None:
        sys.stderr.write("\r\x1b[K" + self.line(done, planned, message))
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _NotebookBar(_Bar):
    def __init__(self, title: str, display: Any) -> None:
        super().__init__(title)
        self.handle = display({"text/plain": title}, raw=True, display_id=True)
        self.rules = ""
        self.points: list[tuple[int, float]] = []

    def best(self, shown: str, mean: float, steps: int) -> None:
        """Shows the best rules so far below the bar, and how their return rose."""
        self.points.append((steps, mean))
        self.rules = curve(self.points) + shown

    def __call__(self, done: int, planned: int, message: str) -> None:
        told = message if planned or not done else f"{done:,} decisions, {message}"
        shown = progress(self.title, self.share(done, planned), told, time.monotonic() - self.start) + self.rules
        self.handle.update({"text/plain": self.line(done, planned, message), "text/html": shown}, raw=True)

    def close(self) -> None:
        seconds = time.monotonic() - self.start
        shown = progress(self.title, 1.0, "done", seconds) + curve(self.points)
        self.handle.update({"text/plain": f"{self.title}: done", "text/html": shown}, raw=True)


def close(show: Show | None) -> None:
    """Clears a bar."""
    end = getattr(show, "close", None)
    if end is not None:
        end()
