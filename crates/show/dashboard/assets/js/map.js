// The airports at the other end of flights, on a map. It says no more than the table below it, which is there for those who don't see it.
import { show } from "./address.js";
import { drawing, element } from "./elements.js";
import { BORDERS, INSETS, LAND, PLACES, SIZE } from "./usa.js";
import { MEASURES, airport, count, figure, figureOf } from "./words.js";

// Where one colour ends and the next begins: the same at all airports and in all months, so that maps can be compared.
const STEPS = {
  mean_delay: [0, 5, 10, 15, 20],
  late: [0.1, 0.2, 0.25, 0.3, 0.4],
  cancelled: [0.005, 0.01, 0.02, 0.03, 0.05],
  diverted: [0.0005, 0.001, 0.002, 0.004, 0.008],
};
// In points of the map; areas are as flights.
const RADIUS_MAX = 22;
// As far beside a point it is still meant, in pixels.
const REACH = 14;
const RECORD = { code: 3, digit: 2, base: 36 };

function* records() {
  const { code, digit, base } = RECORD;
  const number = (at) => Number.parseInt(PLACES.slice(at, at + digit), base);
  for (let at = 0; at < PLACES.length; at += code + 2 * digit) yield [PLACES.slice(at, at + code), { x: number(at + code), y: number(at + code + digit) }];
}
const places = new Map(records());

const step = (value, measure) => (value === null ? null : STEPS[measure].filter((from) => value >= from).length);
const radius = (flights, most) => RADIUS_MAX * Math.sqrt(flights / most);

// 1, 2 or 5 with noughts, not above a number.
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [5, 2, 1].find((digit) => digit * power <= value);
}

// What each colour stands for.
function ranges(measure) {
  const steps = STEPS[measure].map((value) => (measure === "mean_delay" ? value : Number((value * 100).toPrecision(2))));
  const unit = measure === "mean_delay" ? "min" : "%";
  const between = steps.slice(1).map((to, place) => `${steps[place]} to ${to}\u00a0${unit}`);
  return [steps[0] === 0 ? "early" : `less than ${steps[0]}\u00a0${unit}`, ...between, `${steps.at(-1)}\u00a0${unit} or more`];
}

class PointMap {
  constructor(view, own, rows, measure) {
    const most = Math.max(...rows.map((row) => row.figures.flights));
    const pointOf = (row) => ({ row, ...places.get(row.airport), radius: radius(row.figures.flights, most) });
    // Small points lie on large ones.
    this.points = rows.map(pointOf).sort((one, other) => other.radius - one.radius);
    Object.assign(this, { measure, most, own, chosen: view.other, at: null, scale: 1, growth: 1 });
    this.circles = this.points.map((point) => this.circle(point));
    this.label = drawing("text", { class: "label" });
    this.tip = element("div", { class: "tip", hidden: true, role: "status" });
    const words = view.direction === "arrivals" ? `where flights to ${own} come from` : `where flights from ${own} go`;
    this.box = element("div", {
      class: "map", id: "map", tabindex: "0", role: "application",
      "aria-label": `Map: ${words}, by ${MEASURES[measure].what}. Arrow keys move from airport to airport, Enter shows one. The same figures are in the table below.`,
    }, this.picture(), this.tip);
    this.listen();
    this.mark(null);
  }

  circle({ row, x, y, radius }) {
    const colour = step(figureOf(row.figures, this.measure), this.measure);
    return drawing("circle", { class: `point ${colour === null ? "unknown" : `step-${colour}`}`, cx: x, cy: y, "--size": radius, "data-airport": row.airport });
  }

  picture() {
    const here = places.get(this.own);
    const names = INSETS.map(([name, x, y]) => drawing("text", { class: "inset", x, y }, name));
    const own = here ? [drawing("path", { class: "own-place", d: `M${here.x} ${here.y}h0` }), drawing("text", { class: "label", x: here.x, y: here.y }, this.own)] : [];
    return drawing("svg", { viewBox: `0 0 ${SIZE.join(" ")}`, "aria-hidden": "true" },
      drawing("path", { class: "land", d: LAND }), drawing("path", { class: "borders", d: BORDERS }), names, this.circles, own, this.label);
  }

  listen() {
    const { box } = this;
    new ResizeObserver(() => this.fit()).observe(box);
    box.addEventListener("pointermove", (event) => this.say(this.nearest(event)));
    box.addEventListener("pointerleave", () => this.say(null));
    box.addEventListener("blur", () => this.say(null));
    box.addEventListener("keydown", (event) => this.press(event));
    box.addEventListener("click", (event) => this.open(this.nearest(event)));
  }

  // On a small map texts and the smallest points keep their size, and points shrink less than the map does.
  fit() {
    this.scale = SIZE[0] / Math.max(this.box.clientWidth, 1);
    this.growth = Math.max(1, this.scale) ** 0.4;
    for (const key of ["scale", "growth"]) this.box.parentElement?.style.setProperty(`--${key}`, this[key]);
  }

  nearest(event) {
    const frame = this.box.getBoundingClientRect();
    const [x, y] = [(event.clientX - frame.left) * this.scale, (event.clientY - frame.top) * this.scale];
    const far = (point) => Math.hypot(point.x - x, point.y - y);
    const near = this.points.filter((point) => far(point) <= point.radius * this.growth + REACH * this.scale);
    return near.reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);
  }

  // Arrow keys go to the nearest point in their direction, and what lies aside counts twice.
  press(event) {
    const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (event.key === "Enter") this.open(this.at);
    if (event.key === "Escape") this.say(null);
    if (!right && !down) return;
    event.preventDefault();
    const from = this.at ?? places.get(this.own) ?? { x: SIZE[0] / 2, y: SIZE[1] / 2 };
    const ahead = (point) => (point.x - from.x) * right + (point.y - from.y) * down;
    const aside = (point) => Math.abs((point.x - from.x) * down) + Math.abs((point.y - from.y) * right);
    const way = (point) => ahead(point) + 2 * aside(point);
    const next = this.points.filter((point) => point !== this.at && ahead(point) > 0).reduce((best, point) => (best && way(best) <= way(point) ? best : point), null);
    this.say(next ?? this.at);
  }

  say(point) {
    this.at = point;
    this.mark(point?.row.airport);
    this.tip.hidden = !point;
    this.box.classList.toggle("on-point", Boolean(point));
    if (!point) return;
    const { figures } = point.row;
    const value = figureOf(figures, this.measure);
    const sentences = [`${count(figures.flights)} flights`, value === null ? "fewer than 30, so no rate" : `${MEASURES[this.measure].name}: ${figure(value, this.measure)}`];
    this.tip.replaceChildren(element("strong", {}, airport(point.row)), ...sentences.map((text) => element("span", {}, text)));
    this.tip.style.setProperty("--left", point.x / SIZE[0]);
    this.tip.style.setProperty("--top", point.y / SIZE[1]);
    this.tip.classList.toggle("before", point.x > SIZE[0] / 2);
    this.tip.classList.toggle("above", point.y > SIZE[1] / 2);
  }

  /** Marks an airport's point; without one, that which is chosen. */
  mark(code) {
    const marked = code ?? this.chosen;
    this.circles.forEach((circle) => circle.classList.toggle("marked", circle.dataset.airport === marked));
    const point = this.points.find(({ row }) => row.airport === marked);
    this.label.textContent = point ? marked : "";
    if (!point) return;
    for (const key of ["x", "y"]) this.label.setAttribute(key, point[key]);
    this.label.style.setProperty("--size", point.radius);
  }

  open(point) {
    if (point) show({ other: point.row.airport });
  }

  legend() {
    const { measure, most } = this;
    const colours = ranges(measure).map((text, place) => element("li", {}, element("span", { class: `swatch step-${place}` }), text));
    const unknown = this.points.some(({ row }) => figureOf(row.figures, measure) === null);
    const sizes = [...new Set([most, most / 4, most / 20].map((flights) => round(Math.max(flights, 1))))];
    return element("div", { class: "map-legend", "aria-hidden": "true" },
      element("p", {}, MEASURES[measure].name), element("ul", {}, colours, unknown && element("li", {}, element("span", { class: "swatch unknown" }), "fewer than 30 flights")),
      element("p", {}, "Flights"), element("ul", {}, sizes.map((flights) => element("li", {}, element("span", { class: "size", "--size": radius(flights, most) }), count(flights)))));
  }
}

/** The map of an airport's pairs: what is shown, and `mark(code)`, which marks a point. */
export function map(answer, view) {
  const { pairs: rows, airport: own } = answer.figures;
  const measure = STEPS[view.measure] ? view.measure : "mean_delay";
  const known = rows.filter((row) => places.has(row.airport));
  const absent = rows.filter((row) => !places.has(row.airport)).map((row) => `${airport(row)} (${count(row.figures.flights)} flights)`);
  if (!places.has(own)) absent.unshift(`${own} itself`);
  const note = absent.length > 0 && element("p", { class: "aside", id: "not-on-map" }, `Not on the map, because where they lie isn’t known here: ${absent.join(", ")}.`);
  if (!known.length) return { shown: [note], mark: () => {} };
  const made = new PointMap(view, own, known, measure);
  return { shown: [element("div", { class: "map-figure" }, made.box, made.legend()), note], mark: (code) => made.mark(code) };
}
