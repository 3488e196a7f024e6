"""Generates the map of the dashboard, `assets/js/usa.js`: outlines of the states and positions of airports.

    npm pack us-atlas@3.0.1 && tar xzf us-atlas-3.0.1.tgz
    pip install airportsdata==20260905
    python map.py package/states-10m.json > ../assets/js/usa.js

Sources and licences are in `../assets/map/README.md`.

The script projects all points, so that the page only draws. The contiguous states use Albers' equal-area conic on the sphere
(Snyder, Map Projections: A Working Manual, USGS Professional Paper 1395, 1987, section 14); the rest are insets. Coordinates are
in units of the map's viewBox. Lines are simplified by Visvalingam and Whyatt's effective area (The Cartographic Journal 30, 1993),
equally on both sides of a border.
"""

import heapq
import json
import math
import sys
from collections import Counter

import airportsdata

WIDTH, HEIGHT = 1280, 800
# Least area of a corner's triangle with its neighbours, and of an island, in square units.
CORNER_MIN, ISLAND_MIN = 2.6, 3.0
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
TERRITORIES = {"US", "PR", "VI", "GU", "AS", "MP"}

# Airports in flight records that have closed since; degrees north and east.
CLOSED = {"ISN": (48.178, -103.642), "PFN": (30.212, -85.683)}


class Albers:
    """Part of the map with its region on the globe and its position on the page."""

    def __init__(self, name, label, where, parallels, centre, at, scale):
        self.name, self.label, self.where, self.at, self.scale = name, label, where, at, scale
        south, north = (math.sin(math.radians(parallel)) for parallel in parallels)
        self.cone = (south + north) / 2
        self.constant = 1 - south * south + 2 * self.cone * south
        self.meridian = centre[1]
        self.rho = self.radius(centre[0])

    def radius(self, latitude):
        return math.sqrt(self.constant - 2 * self.cone * math.sin(math.radians(latitude))) / self.cone

    def project(self, latitude, longitude):
        rho = self.radius(latitude)
        turned = (longitude - self.meridian + 180) % 360 - 180
        angle = self.cone * math.radians(turned)
        x, y = rho * math.sin(angle), self.rho - rho * math.cos(angle)
        return self.at[0] + self.scale * x, self.at[1] - self.scale * y


SCALE = 1640
# Insets first: a place belongs to the first part that contains it.
PARTS = [
    Albers("Alaska", (190, 785), lambda n, e: n > 50 and (e < -129 or e > 170), (55, 65), (61, -153), (190, 672), SCALE * 0.33),
    Albers("Hawaii", (430, 788), lambda n, e: 18 < n < 23 and -161 < e < -154, (19, 22), (20.6, -157.3), (430, 722), SCALE),
    Albers("Guam", (680, 788), lambda n, e: 13 < n < 15.5 and 144 < e < 146.5, (13, 15), (14.25, 145.2), (680, 730), SCALE * 0.9),
    Albers("American Samoa", (840, 788), lambda n, e: -15 < n < -10 and -172 < e < -168, (-15, -13), (-14.3, -170.6), (840, 748), SCALE * 1.5),
    Albers("Puerto Rico", (1160, 788), lambda n, e: 17 < n < 19 and -68 < e < -64, (17.5, 18.5), (18.1, -66.0), (1160, 742), SCALE * 1.5),
    Albers("", None, lambda n, e: 24 < n < 50 and -126 < e < -66, (29.5, 45.5), (37.5, -96), (640, 412), SCALE),
]


def place(latitude, longitude):
    """Position on the map; None outside of it."""
    for part in PARTS:
        if part.where(latitude, longitude):
            x, y = part.project(latitude, longitude)
            return (x, y) if 0 <= x < WIDTH and 0 <= y < HEIGHT else None
    return None


def decoded(topology):
    """Corners of each arc on the map; an arc that leaves the map is empty."""
    (scale_x, scale_y), (from_x, from_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        corners = []
        for step_x, step_y in arc:
            x, y = x + step_x, y + step_y
            corners.append(place(y * scale_y + from_y, x * scale_x + from_x))
        arcs.append([] if None in corners else corners)
    return arcs


def area(corners):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1])) / 2


def simplified(corners):
    """Repeatedly removes the corner with the least effective area; keeps the ends."""
    before, after = list(range(-1, len(corners) - 1)), list(range(1, len(corners) + 1))
    triangle = lambda i: abs(area([corners[before[i]], corners[i], corners[after[i]]]))
    left = set(range(len(corners)))
    queue = [(triangle(i), i) for i in range(1, len(corners) - 1)]
    heapq.heapify(queue)
    while queue and len(left) > 4:
        least, i = heapq.heappop(queue)
        if least >= CORNER_MIN:
            break
        if i not in left or least < triangle(i) - 1e-9:
            continue
        left.remove(i)
        after[before[i]], before[after[i]] = after[i], before[i]
        for j in (before[i], after[i]):
            if 0 < j < len(corners) - 1:
                heapq.heappush(queue, (max(least, triangle(j)), j))
    return [corners[i] for i in sorted(left)]


def rounded(corners):
    points = [(round(x), round(y)) for x, y in corners]
    return [point for i, point in enumerate(points) if i == 0 or point != points[i - 1]]


def path(corners, start, is_closed):
    """Steps of a path relative to the end of the previous one, and the end of this path."""
    text = "m"
    at = start
    for x, y in corners:
        for step in (x - at[0], y - at[1]):
            text += f"{'' if step < 0 or text[-1] == 'm' else ' '}{step}"
        at = (x, y)
    return (text + "z", corners[0]) if is_closed else (text, at)


def joined(lines, is_closed):
    text, at = "", (0, 0)
    for line in lines:
        step, at = path(line, at, is_closed)
        text += step
    return text


def rings(geometry):
    polygons = [geometry["arcs"]] if geometry["type"] == "Polygon" else geometry["arcs"]
    return [ring for polygon in polygons for ring in polygon]


def land(topology, arcs):
    """Outline of the nation as rings."""
    kept = []
    for geometry in topology["objects"]["nation"]["geometries"]:
        for ring in rings(geometry):
            parts = [arcs[i] if i >= 0 else arcs[~i][::-1] for i in ring]
            if not all(parts):
                continue
            whole = [corner for part in parts for corner in part[:-1]]
            short = rounded([corner for part in parts for corner in simplified(part)])
            short = short[:-1] if short[0] == short[-1] else short
            if abs(area(whole)) >= ISLAND_MIN and len(short) > 2:
                kept.append(short)
    return joined(kept, True)


def borders(topology, arcs):
    """Borders: arcs shared by two states."""
    uses = Counter()
    for geometry in topology["objects"]["states"]["geometries"]:
        if geometry["type"]:
            uses.update({i if i >= 0 else ~i for ring in rings(geometry) for i in ring})
    lines = [rounded(simplified(arcs[i])) for i, states in sorted(uses.items()) if states > 1 and arcs[i]]
    return joined([line for line in lines if len(line) > 1], False)


def airports():
    """Airport codes with positions of two base-36 digits each."""
    known = {code: (row["lat"], row["lon"]) for code, row in airportsdata.load("IATA").items() if row["country"] in TERRITORIES}
    text = ""
    for code, where in sorted({**CLOSED, **known}.items()):
        at = place(*where)
        if at:
            text += code + "".join(DIGITS[value // 36] + DIGITS[value % 36] for value in (int(at[0]), int(at[1])))
    return text


def insets():
    """Names of the insets, with the positions of their labels."""
    return [[part.name, *part.label] for part in PARTS if part.label]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        topology = json.load(file)
    arcs = decoded(topology)
    print("// Made by `tools/map.py`: the outline of the states, the borders between them, and where airports lie (a code, and two digits to")
    print("// base 36 for each of left and top). Outline: US Census Bureau by us-atlas; airports: airportsdata.")
    print(f"export const SIZE = [{WIDTH}, {HEIGHT}];")
    print(f'export const LAND = "{land(topology, arcs)}";')
    print(f'export const BORDERS = "{borders(topology, arcs)}";')
    print(f"export const INSETS = {json.dumps(insets())};")
    print(f'export const PLACES = "{airports()}";')


if __name__ == "__main__":
    main()
