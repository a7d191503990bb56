"""The items of a scene as strokes and areas in space, and how these are seen: for films and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.scene import Item
from ..run.values import Array

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#b8860b", "#5b3a8c", "#8c564b")
ROD, SPRING, EDGE, GROUND = "#5b6570", "#8a6d00", "#2b323a", "#6f7a86"
KIND = {"velocity": "#009e73", "force": "#d55e00", "reaction": "#aa4499"}
AZIMUTH, HEIGHT = -0.9, 0.42
"""From where scenes in space are seen."""
ARROW, INSIDE = 0.45, 0.95
"""Length of the longest arrow, and how far from the middle its tip may be, in halves of the height of the picture."""


@dataclass(frozen=True)
class Stroke:
    """A line through points, a filled area, or a ball of a radius."""

    points: Array
    width: float
    colour: str
    filled: bool = False
    radius: float = 0.0
    is_trail: bool = False


@dataclass(frozen=True)
class Measures:
    """How large a scene is, how it is seen, how long arrows are, and between which temperatures it moves."""

    middle: Array
    reach: float
    spatial: bool
    scales: dict[str, float]
    warmth: tuple[float, float]

    @classmethod
    def of(cls, items: Sequence[Item], places: Sequence[slice], table: Array, spatial: bool) -> Measures:
        """From all states."""
        found = [_extent(type(i).__name__, table[:, p]) for i, p in zip(items, places, strict=True)]
        every = np.concatenate([f.reshape(-1, 3) for f in found])
        every = every[np.isfinite(every).all(axis=1)]
        low, high = (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.ones(3))
        half = (high - low) / 2
        reach = 1.15 * float(0.85 * np.linalg.norm(half) if spatial else half[:2].max()) or 1.0
        middle, longest, arrows = (low + high) / 2, dict[str, float](), []
        warm: list[float] = []
        for item, part in zip(items, places, strict=True):
            if type(item).__name__ == "Vector":
                kind, at, d = item.kind, table[:, part][:, :3], table[:, part][:, 3:6]  # type: ignore[attr-defined]
                longest[kind] = max(longest.get(kind, 0.0), float(np.nanmax(np.linalg.norm(d, axis=1))))
                arrows.append((kind, at, d))
            if type(item).__name__ == "Gas":
                warm += table[:, part][:, 7].tolist()
        flat = cls(middle, reach, spatial, {}, (0.0, 1.0)).onto
        parts = [(flat(at - middle), flat(d) / (longest[kind] or 1.0)) for kind, at, d in arrows]
        share = ARROW if _needed(parts, ARROW) <= reach else 0.6 * ARROW
        reach = max(reach, _needed(parts, share))
        scales = {k: share * reach / v if v > 0 else 0.0 for k, v in longest.items()}
        return cls(middle, reach, spatial, scales, (min(warm, default=0.0), max(warm, default=1.0)))

    @property
    def unit(self) -> float:
        """The width of a usual line."""
        return 0.011 * self.reach

    @property
    def _axes(self) -> Array:
        if not self.spatial:
            return np.eye(3)
        back = np.array([np.cos(HEIGHT) * np.cos(AZIMUTH), np.cos(HEIGHT) * np.sin(AZIMUTH), np.sin(HEIGHT)])
        right = np.cross([0, 0, 1], back)
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(back, right), back])

    def onto(self, points: Array) -> Array:
        """Places in the picture."""
        return np.asarray(points @ self._axes[:2].T)

    def depth(self, stroke: Stroke) -> float:
        """How near something is; trails are behind."""
        return -np.inf if stroke.is_trail else float((stroke.points @ self._axes[2]).mean())

    def colour(self, item: Any, k: int, usual: str = "") -> str:
        """The colour of an item."""
        return item.colour or usual or PALETTE[k % len(PALETTE)]


def _needed(arrows: Sequence[tuple[Array, Array]], share: float) -> float:
    """Half the height of a picture with the tips of all arrows, the longest of which is a share of it."""
    with np.errstate(invalid="ignore"):
        tips = [np.abs(at) / (INSIDE - share * np.maximum(np.sign(at) * d, 0)) for at, d in arrows]
    return max((float(np.nanmax(t, initial=0.0)) for t in tips), default=0.0)


COLOURED = ("Point", "Disc", "Wheel", "Sphere", "Box", "Polygon")
"""What has a colour of its own, one after the other."""


def colours_of(items: Sequence[Any]) -> list[tuple[int, str]]:
    """The number of the colour of each item, and the colour that it was given; trails have those of what leaves them."""
    found: list[tuple[int, str]] = []
    bodies: dict[Any, tuple[int, str]] = {}
    for item in items:
        found.append((sum(type(i).__name__ in COLOURED for i in items[: len(found)]), getattr(item, "colour", "")))
        if type(item).__name__ in COLOURED and hasattr(item, "at"):
            bodies[tuple(item.at)] = found[-1]
    trails = [k for k, item in enumerate(items) if type(item).__name__ == "Trail"]
    for turn, k in enumerate(trails):
        index, given = bodies.get(tuple(items[k].at), (turn, ""))
        found[k] = (index, items[k].colour or given)
    return found


def place_of(item: Any, v: Array, m: Measures) -> Array:
    """Where the label of an item is: at the middle of a rod and at the tip of an arrow."""
    kind = type(item).__name__
    if kind in ("Rod", "Spring"):
        return np.asarray((v[:3] + v[3:6]) / 2)
    return np.asarray(v[:3] + m.scales.get(item.kind, 0.0) * v[3:6] if kind == "Vector" else v[:3])


def _axes_of(R: Array) -> Array:
    return R.reshape(3, 3).T


def _extent(kind: str, v: Array) -> Array:
    """The places by which the size of a picture is measured."""
    if kind in ("Disc", "Wheel", "Hoop", "Sphere"):
        arm = v[:, 3, None] * np.ones(3)
        return np.stack([v[:, :3] + arm, v[:, :3] - arm])
    if kind == "Box":
        arm = np.linalg.norm(v[:, 3:6], axis=1)[:, None] / 2 * np.ones(3)
        return np.stack([v[:, :3] + arm, v[:, :3] - arm])
    if kind in ("Ground", "Vector", "Trail", "Point", "Axes", "Blade"):
        return v[:, :3]
    if kind == "Gas":
        return np.stack([v[:, :3], v[:, 3:6]])
    return v.reshape(len(v), -1, 3)


def _circle(at: Array, r: float, x: Array, y: Array, begin: float = 0.0, end: float = 2 * np.pi) -> Array:
    a = np.linspace(begin, end, 57)[:, None]
    return np.asarray(at + r * (np.cos(a) * x + np.sin(a) * y))


def strokes(item: Any, v: Array, m: Measures, k: int) -> list[Stroke]:
    """An item as strokes; `k` counts those with colours of their own."""
    kind = type(item).__name__
    at = v[:3]
    if kind == "Point":
        return [Stroke(at[None], 1, m.colour(item, k), radius=2.6 * item.size * m.unit)]
    if kind in ("Rod", "Rope"):
        return [Stroke(v.reshape(-1, 3), 3 * item.width * (1 if kind == "Rod" else 0.4), m.colour(item, 0, ROD))]
    if kind == "Polygon":
        corners = v.reshape(-1, 3)
        return [Stroke(corners, 0, m.colour(item, k), True), Stroke(np.vstack([corners, corners[:1]]), 1, EDGE)]
    if kind in ("Disc", "Wheel", "Hoop", "Sphere"):
        return _round(item, v, m, k)
    if kind == "Spring":
        return [_spring(item, v, m)]
    return _others(item, kind, v, m, k)


def _round(item: Any, v: Array, m: Measures, k: int) -> list[Stroke]:
    kind, at, r = type(item).__name__, v[:3], float(v[3])
    x, y, _ = _axes_of(v[4:13])
    if kind == "Hoop":
        return [Stroke(_circle(at, r, x, y, v[13], v[14]), 2.5 * item.width, m.colour(item, k, ROD))]
    rim, spoke = _circle(at, r, x, y), Stroke(np.stack([at, at + 0.92 * r * x]), 1.2, "#ffffff")
    if kind == "Wheel":
        turns = [np.stack([at, at + r * (np.cos(a) * x + np.sin(a) * y)]) for a in np.arange(6) * np.pi / 3]
        return [Stroke(rim, 3, m.colour(item, k)), *(Stroke(t, 1 + (i == 0), ROD) for i, t in enumerate(turns))]
    if kind == "Sphere":
        return [Stroke(at[None], 1, m.colour(item, k), radius=r), spoke]
    return [Stroke(rim, 0, m.colour(item, k), True), Stroke(rim, 1, EDGE), spoke]


def _spring(item: Any, v: Array, m: Measures) -> Stroke:
    a, d = v[:3], v[3:6] - v[:3]
    side = np.cross(m._axes[2], d)
    side = side / (np.linalg.norm(side) or 1.0)
    s = np.concatenate([[0, 0.08], np.linspace(0.08, 0.92, 2 * item.coils + 1)[1:-1], [0.92, 1]])
    out = np.zeros(len(s))
    out[2:-2] = 3.2 * item.width * m.unit * (-1.0) ** np.arange(len(s) - 4)
    return Stroke(a + s[:, None] * d + out[:, None] * side, 1.3, m.colour(item, 0, SPRING))


def _block(at: Array, x: Array, y: Array, z: Array, colour: str, spatial: bool) -> list[Stroke]:
    def face(a: Array, b: Array, c: Array) -> Array:
        return np.stack([at + a / 2 + i * b / 2 + j * c / 2 for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))])

    faces = [face(0 * z, x, y)]
    if spatial:
        faces = [face(s * a, b, c) for a, b, c in ((x, y, z), (y, z, x), (z, x, y)) for s in (-1, 1)]
    return [stroke for f in faces for stroke in (Stroke(f, 0, colour, True), Stroke(f, 0.8, EDGE))]


def _others(item: Any, kind: str, v: Array, m: Measures, k: int) -> list[Stroke]:
    at = v[:3]
    if kind == "Box":
        x, y, z = _axes_of(v[6:15])
        return _block(at, v[3] * x, v[4] * y, v[5] * z, m.colour(item, k), m.spatial)
    if kind == "Blade":
        half = v[6] / 2 * v[3:6] / (np.linalg.norm(v[3:6]) or 1.0)
        return [Stroke(np.stack([at - half, at + half]), 4, m.colour(item, 0, "#d55e00"))]
    if kind == "Axes":
        three = _axes_of(v[3:12])
        return [Stroke(np.stack([at, at + v[12] * d]), 2, c) for d, c in zip(three, KIND.values(), strict=True)]
    if kind == "Gas":
        return _gas(v, m)
    if kind == "Vector":
        d = m.scales.get(item.kind, 0.0) * v[3:6]
        return _arrow(at, d, m, m.colour(item, 0, KIND.get(item.kind, PALETTE[0])))
    return _ground(at, v[3:6], m)


def _gas(v: Array, m: Measures) -> list[Stroke]:
    low, high = m.warmth
    part = (v[7] - low) / (high - low) if high > low else 0.5
    cold, mild, hot = (np.array([int(c[i : i + 2], 16) for i in (1, 3, 5)]) for c in ("#2166ac", "#f4efe6", "#b2182b"))
    mixed = cold + 2 * part * (mild - cold) if part < 0.5 else mild + (2 * part - 1) * (hot - mild)
    d = v[3:6] - v[:3]
    across = np.cross(m._axes[2], d)
    across = v[6] * across / (np.linalg.norm(across) or 1.0)
    colour = "#" + "".join(f"{int(c):02x}" for c in np.clip(mixed, 0, 255))
    return _block(v[:3] + d / 2, d, across, 0 * d, colour, False)


def _arrow(at: Array, d: Array, m: Measures, colour: str) -> list[Stroke]:
    length = float(np.linalg.norm(d))
    if length < 1.5 * m.unit:
        return []
    head = min(4.5 * m.unit, 0.6 * length) * d / length
    side = np.cross(m._axes[2], head) * 0.4
    tip = at + d
    return [
        Stroke(np.stack([at, tip - head]), 1.8, colour),
        Stroke(np.stack([tip, tip - head + side, tip - head - side]), 0, colour, True),
    ]


def _ground(at: Array, normal: Array, m: Measures) -> list[Stroke]:
    n = normal / (np.linalg.norm(normal) or 1.0)
    middle, reach = m.middle - np.dot(m.middle - at, n) * n, 2.6 * m.reach
    if m.spatial:
        x = np.cross(n, [1.0, 0, 0] if abs(n[0]) < 0.9 else [0, 1.0, 0])
        y, half = np.cross(n, x), 0.4 * reach
        lines = [half * i / 4 for i in range(-4, 5)]
        pairs = [(s, a, b) for s in lines for a, b in ((x, y), (y, x))]
        return [
            Stroke(np.stack([middle + s * a - half * b, middle + s * a + half * b]), 0.4, GROUND) for s, a, b in pairs
        ]
    d = np.array([n[1], -n[0], 0])
    step = reach / 22
    ticks = [middle + (i + 0.7) * step * d for i in range(-22, 22)]
    return [Stroke(np.stack([middle - reach * d, middle + reach * d]), 1.5, GROUND), *(
        Stroke(np.stack([p, p - 0.45 * step * d - 0.6 * step * n]), 0.6, GROUND) for p in ticks
    )]  # fmt: skip
