// Connections of the airport, the worst first, and one of them airline by airline.
import { show } from "./address.js";
import { bar, element, link, table } from "./elements.js";
import { map } from "./map.js";
import { airline, airport, figure, minutes } from "./words.js";

const SHOWN = 12;
const figures = [
  { name: "Late", numeric: true, cell: (row) => figure(row.figures.late_share, "late") },
  { name: "Cancelled", numeric: true, cell: (row) => figure(row.figures.cancelled_share, "cancelled") },
  { name: "Diverted", numeric: true, cell: (row) => figure(row.figures.diverted_share, "diverted") },
];

/** What the section shows. */
export function pairs(answer, view) {
  const { pairs: rows, all, airport: own } = answer.figures;
  const known = rows.filter((row) => row.figures.mean_delay_minutes !== null);
  const longest = Math.max(...known.map((row) => row.figures.mean_delay_minutes), Number.MIN_VALUE);
  const to = view.direction === "arrivals" ? "from" : "to";
  const columns = [
    { name: to === "to" ? "To" : "From", cell: (row) => link(airport(row), `Show ${own} ${to} ${row.airport}`, () => show({ other: row.airport })) },
    { name: "Flights", numeric: true, cell: (row) => figure(row.figures.flights, "flights") },
    { name: "Mean delay", numeric: true, cell: (row) => figure(row.figures.mean_delay_minutes, "mean_delay") },
    { name: "", class: "bars", cell: (row) => bar((row.figures.mean_delay_minutes ?? 0) / longest, row.airport === view.other) },
    ...figures,
  ];
  const drawn = map(answer, view);
  // A row that is pointed at, or has the focus, has its point on the map.
  const marking = (made, some) => {
    const mark = ({ target }) => drawn.mark(some[target.closest("tbody tr")?.sectionRowIndex]?.airport);
    for (const event of ["pointerover", "focusin"]) made.addEventListener(event, mark);
    for (const event of ["pointerleave", "focusout"]) made.addEventListener(event, () => drawn.mark(null));
    return made;
  };
  const made = (some) => marking(table(`Connections of ${own}, the longest mean delay first`, columns, some, (row) => (row.airport === view.other ? "own" : null)), some);
  const mean = all.mean_delay_minutes === null ? "" : ` All ${figure(all.flights, "flights")} flights together have a mean delay of ${minutes(all.mean_delay_minutes)}.`;
  const few = rows.length - known.length;
  const rest = rows.slice(SHOWN);
  return [
    element("p", { class: "finding" }, known.length ? `Flights ${to} ${airport(known[0])} have the longest mean delay: ${minutes(known[0].figures.mean_delay_minutes)}.${mean}` : "No connection has enough flights for a mean."),
    ...drawn.shown,
    made(rows.slice(0, SHOWN)),
    rest.length > 0 && element("details", { class: "more" }, element("summary", {}, `${rest.length} more connections`), made(rest)),
    few > 0 && element("p", { class: "aside" }, `${few} of ${rows.length} connections have fewer than 30 flights, so their rates aren’t shown.`),
  ].filter(Boolean);
}

/** One connection. */
export function pair(answer, view) {
  const { airport: own, all, airlines: rows } = answer.figures;
  const other = airport({ airport: answer.figures.other, name: answer.figures.name });
  const [from, to] = view.direction === "arrivals" ? [other, own] : [own, other];
  const cancelled = all.cancelled_share === null ? "" : `, ${figure(all.cancelled_share, "cancelled")} cancelled`;
  const mean = all.mean_delay_minutes === null ? "too few for a mean delay" : `a mean delay of ${minutes(all.mean_delay_minutes)}`;
  const columns = [
    { name: "Airline", cell: (row) => airline(row.airline) },
    { name: "Flights", numeric: true, cell: (row) => figure(row.figures.flights, "flights") },
    { name: "Mean delay", numeric: true, cell: (row) => figure(row.figures.mean_delay_minutes, "mean_delay") },
    ...figures,
  ];
  return [
    element("p", { class: "finding" }, `From ${from} to ${to}: ${figure(all.flights, "flights")} flights, ${mean}${cancelled}. `,
      link("Close", "Close this connection", () => show({ other: null }))),
    table(`Airlines from ${from} to ${to}`, columns, rows),
  ];
}
