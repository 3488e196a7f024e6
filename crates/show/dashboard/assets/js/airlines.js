// Airlines here, and the same airlines at all other airports.
import { bar, element, table } from "./elements.js";
import { airline, figure, minutes } from "./words.js";

// Closer than this both count as the same.
const SAME_MINUTES = 2;

function usual(row) {
  const more = row.more_delay_minutes;
  if (row.elsewhere === null) return "flies nowhere else";
  if (more === null) return "too few flights";
  if (Math.abs(more) < SAME_MINUTES) return "about as elsewhere";
  return more > 0 ? `${minutes(more)} more than elsewhere` : `${minutes(-more)} less than elsewhere`;
}

/** What the section shows. */
export function airlines(answer) {
  const { airlines: rows, airport } = answer.figures;
  const known = rows.filter((row) => row.here.mean_delay_minutes !== null);
  const latest = known.reduce((worst, row) => (worst && worst.here.mean_delay_minutes >= row.here.mean_delay_minutes ? worst : row), null);
  const longest = Math.max(...known.map((row) => row.here.mean_delay_minutes), Number.MIN_VALUE);
  const sentence = latest
    ? `${airline(latest.airline)} has the longest mean delay at ${airport}: ${minutes(latest.here.mean_delay_minutes)}. ${
      latest.elsewhere?.mean_delay_minutes != null ? `At its other airports it is ${minutes(latest.elsewhere.mean_delay_minutes)}: ${usual(latest)}.` : ""}`
    : "No airline has enough flights here for a mean.";
  const of = (figures, key, measure) => figure(figures?.[key], measure);
  const columns = [
    { name: "Airline", cell: (row) => airline(row.airline) },
    { name: "Mean delay here", numeric: true, cell: (row) => of(row.here, "mean_delay_minutes", "mean_delay") },
    { name: "", class: "bars", cell: (row) => bar((row.here.mean_delay_minutes ?? 0) / longest) },
    { name: "Elsewhere", numeric: true, cell: (row) => of(row.elsewhere, "mean_delay_minutes", "mean_delay") },
    { name: "Is that usual?", class: "words", cell: usual },
    { name: "Flights here", numeric: true, cell: (row) => figure(row.here.flights, "flights") },
    { name: "Late here", numeric: true, cell: (row) => of(row.here, "late_share", "late") },
    { name: "Late elsewhere", numeric: true, cell: (row) => of(row.elsewhere, "late_share", "late") },
    { name: "Cancelled here", numeric: true, cell: (row) => of(row.here, "cancelled_share", "cancelled") },
    { name: "Cancelled elsewhere", numeric: true, cell: (row) => of(row.elsewhere, "cancelled_share", "cancelled") },
  ];
  return [element("p", { class: "finding" }, sentence), table("Airlines here and at all other airports, the one with most flights here first", columns, rows)];
}
