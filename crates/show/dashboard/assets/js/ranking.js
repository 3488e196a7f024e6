// Airports by a figure, and all airports to choose from.
import { show } from "./address.js";
import { bar, element, link, table } from "./elements.js";
import { MEASURES, airport, figure, figureOf } from "./words.js";

const others = (measure) => ["flights", "mean_delay", "late", "cancelled", "diverted"].filter((name) => name !== measure);

function columns(measure, rows) {
  const longest = Math.max(...rows.map((row) => figureOf(row.figures, measure) ?? 0), Number.MIN_VALUE);
  const opened = (row) => (row.is_own ? airport(row) : link(airport(row), `Show ${airport(row)}`, () => show({ airport: row.airport, other: null })));
  const of = (name) => ({ name: MEASURES[name].name, numeric: true, cell: (row) => figure(figureOf(row.figures, name), name) });
  return [
    { name: "Airport", cell: opened },
    of(measure),
    { name: "", class: "bars", cell: (row) => bar((figureOf(row.figures, measure) ?? 0) / longest, row.is_own) },
    ...others(measure).map(of),
  ];
}

/** What the section shows. */
export function ranking(answer, view) {
  const { airports, measure, among } = answer.figures;
  const own = airports.find((row) => row.is_own);
  const known = airports.filter((row) => row.place !== null).length;
  const order = measure === "flights" ? "the one with most first" : "the best first";
  const place = own?.place ? `${own.airport} has place ${own.place} of ${known}${measure === "flights" ? "" : "; the first is the best"}.` : "The airport’s own figure isn’t known.";
  const toggle = (name, text) => element("button", { type: "button", "aria-pressed": String(among === name), onclick: () => show({ among: name }) }, text);
  const numbered = { name: "Place", numeric: true, cell: (row) => (row.place === null ? "–" : String(row.place)) };
  const [first, ...rest] = columns(measure, airports);
  return [
    element("p", { class: "toggles", role: "group", "aria-label": "Which airports" }, toggle("similar", "Similar airports"), toggle("all", "All airports")),
    element("p", {}, place),
    table(`${among === "all" ? "All" : "Similar"} airports by ${MEASURES[measure].what}, ${order}`, [first, numbered, ...rest], airports,
      (row) => (row.is_own ? "own" : among === "all" && row.is_similar ? "similar" : null)),
  ];
}

/** All airports, to choose one. */
export function choose(answer) {
  const { airports } = answer.figures;
  if (!airports.length) return [element("p", {}, "There are no flights in these months.")];
  return [table("All airports of these months, the one with most flights first: choose one", columns("flights", airports), airports)];
}
