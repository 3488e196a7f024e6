// Cost of the figures: time and bytes of their queries.
import { element, table } from "./elements.js";
import { bytes, count, time } from "./words.js";

// Unmeasured devices appear once they are measured.
function elsewhere(other) {
  if (!other.is_measured) return element("span", { class: "unmeasured" }, `not measured yet: ${other.refusal}`);
  return other.refusal ? `not predicted: ${other.refusal}` : time(other.time_ns);
}

function said(query) {
  const { predicted } = query;
  const between = predicted.scans_ns === null
    ? `not predicted: ${predicted.refusal}`
    : `${time(predicted.scans_ns)} (${time(predicted.scans_low_ns)} to ${time(predicted.scans_high_ns)}), scans only`;
  const rows = [
    { what: "Time", predicted: between, actual: `${time(query.wall_ns)}, including computing` },
    { what: "Read", predicted: bytes(predicted.read_bytes), actual: bytes(query.read_bytes) },
    { what: "Requests", predicted: count(predicted.requests), actual: `${count(query.requests)} (${count(query.unplanned_requests)} unplanned)` },
    { what: "Device busy", predicted: "", actual: time(query.device_ns) },
    { what: "Computing, all threads", predicted: "", actual: time(query.computing_ns) },
    ...query.elsewhere.map((other) => ({
      what: `On ${other.device}`, predicted: elsewhere(other), actual: "",
    })),
  ];
  const columns = [
    { name: "Query", cell: (row) => row.what },
    { name: "Predicted", cell: (row) => row.predicted },
    { name: "Actual", cell: (row) => row.actual },
  ];
  return [
    table("Cost of the query when it ran; later answers come from the cache", columns, rows),
    element("pre", { tabindex: "0", "aria-label": "The query" }, query.sql),
    ...(query.sums_sql === null ? [] : [
      element("p", { class: "aside" }, "It reads sums of the flights that the server computed beforehand with this query:"),
      element("pre", { tabindex: "0", "aria-label": "Query that computed the sums" }, query.sums_sql),
    ]),
  ];
}

/** Returns true if the page shows devices that weren't measured. */
export const isUnmeasured = () => document.querySelector(".cost .unmeasured") !== null;

/** Fold with the cost of an answer's queries. */
export function cost(queries) {
  const sum = (key) => queries.reduce((all, query) => all + query[key], 0);
  const summary = `Cost of these figures: ${time(sum("wall_ns"))}, ${bytes(sum("read_bytes"))} in ${count(sum("requests"))} requests`;
  return element("details", { class: "cost" }, element("summary", {}, summary), queries.map(said));
}
