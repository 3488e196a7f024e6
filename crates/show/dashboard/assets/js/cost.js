// What figures cost: for those who want to know what lies behind them.
import { element, table } from "./elements.js";
import { bytes, count, time } from "./words.js";

// What isn't measured yet comes by itself when it is.
function elsewhere(other) {
  if (!other.is_measured) return element("span", { class: "unmeasured" }, `not yet: ${other.refusal}`);
  return other.refusal ? `not predicted: ${other.refusal}` : time(other.time_ns);
}

function said(query) {
  const { predicted } = query;
  const between = predicted.scans_ns === null
    ? `not predicted: ${predicted.refusal}`
    : `${time(predicted.scans_ns)} (${time(predicted.scans_low_ns)} to ${time(predicted.scans_high_ns)}), for its scans`;
  const rows = [
    { what: "Time", predicted: between, actual: `${time(query.wall_ns)}, with all that is computed` },
    { what: "Read", predicted: bytes(predicted.read_bytes), actual: bytes(query.read_bytes) },
    { what: "Requests", predicted: count(predicted.requests), actual: `${count(query.requests)} (${count(query.unplanned_requests)} unplanned)` },
    { what: "Device busy", predicted: "", actual: time(query.device_ns) },
    { what: "Computing, of all threads", predicted: "", actual: time(query.computing_ns) },
    ...query.elsewhere.map((other) => ({
      what: `On ${other.device}`, predicted: elsewhere(other), actual: "",
    })),
  ];
  const columns = [
    { name: "Of the query", cell: (row) => row.what },
    { name: "Predicted", cell: (row) => row.predicted },
    { name: "Actual", cell: (row) => row.actual },
  ];
  return [
    table("What a query took when it ran; later answers come from memory", columns, rows),
    element("pre", { tabindex: "0", "aria-label": "The query" }, query.sql),
    ...(query.sums_sql === null ? [] : [
      element("p", { class: "aside" }, "It asks sums, which the server made of the flights beforehand, by this query:"),
      element("pre", { tabindex: "0", "aria-label": "The query that made the sums" }, query.sums_sql),
    ]),
  ];
}

/** Whether costs are shown of devices that weren't measured. */
export const isUnmeasured = () => document.querySelector(".cost .unmeasured") !== null;

/** A fold with the cost of an answer's queries. */
export function cost(queries) {
  const sum = (key) => queries.reduce((all, query) => all + query[key], 0);
  const summary = `What these figures cost: ${time(sum("wall_ns"))}, ${bytes(sum("read_bytes"))} in ${count(sum("requests"))} requests`;
  return element("details", { class: "cost" }, element("summary", {}, summary), queries.map(said));
}
