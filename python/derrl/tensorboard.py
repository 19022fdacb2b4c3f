"""Event files for TensorBoard, written without TensorFlow: a record per value, framed with masked CRC-32C."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .training import Run


def _table() -> list[int]:
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _table()


def _masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked_crc(length)) + data + struct.pack("<I", _masked_crc(data))


def _varint(n: int) -> bytes:
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _event(wall: float, step: int, tag: str, value: float) -> bytes:
    # Event { double wall_time = 1; int64 step = 2; Summary summary = 5 { Value value = 1 { tag = 1; float simple_value = 2 } } }
    inner = _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return b"\x09" + struct.pack("<d", wall) + b"\x10" + _varint(step) + _bytes(5, _bytes(1, inner))


CURVES = {"mean_return": "train/mean_return", "success_rate": "train/success_rate", "entropy": "train/entropy"}
"""Columns of ``metrics.jsonl`` that are drawn, where a run has them."""


def write(run: Run, logdir: Path) -> Path:
    """Writes a run's curves, a folder per restart, and its scores."""
    now = time.time()
    version = b"\x09" + struct.pack("<d", now) + _bytes(3, b"brain.Event:2")
    files: dict[str, list[bytes]] = {}
    for row in run.metrics():
        events = files.setdefault(f"restart-{row['restart']}", [version])
        for column, tag in CURVES.items():
            if isinstance(row.get(column), (int, float)):
                events.append(_event(now, int(row["episodes"]), tag, float(row[column])))
    scores = files.setdefault("scores", [version])
    for task, score in run.scores.items():
        scores.append(_event(now, run.steps, f"score/{task}", score.mean))
        scores.append(_event(now, run.steps, f"success/{task}", score.success_rate))
    for name, events in files.items():
        folder = logdir / name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"events.out.tfevents.{int(now)}.derrl"
        path.write_bytes(b"".join(map(_record, events)))
    return logdir
