// How figures, months and names are written.

export const MEASURES = {
  flights: { name: "Flights", what: "flights scheduled" },
  mean_delay: { name: "Mean delay", what: "mean delay", key: "mean_delay_minutes", worse: "later" },
  late: { name: "More than 15 min late", what: "share of flights more than 15 minutes late", key: "late_share", worse: "late more often" },
  cancelled: { name: "Cancelled", what: "share of flights cancelled", key: "cancelled_share", worse: "cancelled more often" },
  diverted: { name: "Diverted", what: "share of flights diverted", key: "diverted_share", worse: "diverted more often" },
};

/** A figure of an object of figures. */
export const figureOf = (figures, measure) => figures?.[MEASURES[measure].key ?? "flights"] ?? null;

export const count = (value) => value.toLocaleString("en");
export const minutes = (value) => `${value.toFixed(1).replace("-", "−")}\u00a0min`;
export const share = (value) => `${(value * 100).toFixed(value < 0.01 ? 2 : 1)}\u00a0%`;

export const NOT_KNOWN = "–";
/** A figure as it is read; a dash where it isn't known. */
export function figure(value, measure) {
  if (value === null || value === undefined) return NOT_KNOWN;
  if (measure === "flights") return count(Math.round(value));
  return measure === "mean_delay" ? minutes(value) : share(value);
}

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
/** `2008`, `January 2008`, `31 January 2008`. */
export function period(text) {
  const [year, month, day] = text.split("-");
  if (!month) return year;
  return `${day ? `${Number(day)} ` : ""}${MONTHS[Number(month) - 1]} ${year}`;
}
/** `Jan 2008`, where there is little room. */
export const shortMonth = (text) => `${MONTHS[Number(text.slice(5)) - 1].slice(0, 3)} ${text.slice(0, 4)}`;
/** From one month to another. */
export function months(from, to) {
  if (from === to) return period(from);
  if (from.slice(0, 4) === to.slice(0, 4) && from.endsWith("-01") && to.endsWith("-12")) return from.slice(0, 4);
  return `${period(from)} to ${period(to)}`;
}

const SIZES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
export function bytes(value) {
  const [scale, unit] = SIZES.find(([scale]) => value >= scale) ?? [1, "bytes"];
  return `${Number((value / scale).toPrecision(3))} ${unit}`;
}
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
export function time(ns) {
  if (ns === null || ns === undefined) return NOT_KNOWN;
  const [scale, unit] = TIMES.find(([scale]) => ns >= scale) ?? [1, "ns"];
  return `${Number((ns / scale).toPrecision(3))} ${unit}`;
}

/** An airport with its name, where that is known. */
export const airport = (row) => (row.name ? `${row.airport} ${row.name}` : row.airport);

// Carriers that have reported their flights, by their codes in the records.
const AIRLINES = {
  "9E": "Pinnacle", AA: "American", AQ: "Aloha", AS: "Alaska", B6: "JetBlue", CO: "Continental", DH: "Independence", DL: "Delta",
  EA: "Eastern", EV: "Atlantic Southeast", F9: "Frontier", FL: "AirTran", HA: "Hawaiian", HP: "America West", MQ: "American Eagle",
  NW: "Northwest", OH: "Comair", OO: "SkyWest", PI: "Piedmont", PS: "Pacific Southwest", TW: "TWA", TZ: "ATA", UA: "United",
  US: "US Airways", WN: "Southwest", XE: "ExpressJet", YV: "Mesa",
};
export const airline = (code) => (AIRLINES[code] ? `${AIRLINES[code]} (${code})` : code);
