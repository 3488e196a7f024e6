// The address holds all that is shown: it can be shared, and the back button works.

const KEYS = ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "among", "other"];
const USUAL = { direction: "departures", by: "flights", count: "10", measure: "mean_delay", among: "similar" };

let listener = () => {};

/** What the address says, with what is usual where it says nothing. */
export function view() {
  const said = new URLSearchParams(location.search);
  const known = Object.fromEntries(KEYS.filter((key) => said.get(key)).map((key) => [key, said.get(key)]));
  return { ...USUAL, ...known };
}

/** Shows something else: a step that the back button undoes, unless it only completes what the address says. */
export function show(changes, { replace = false } = {}) {
  const next = { ...view(), ...changes };
  const query = new URLSearchParams();
  for (const key of KEYS) if (next[key] && next[key] !== USUAL[key]) query.set(key, next[key]);
  const address = `${location.pathname}${query.size ? `?${query.toString().replaceAll("%2C", ",")}` : ""}`;
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  listener();
}

/** Calls when something else is to be shown. */
export function onChange(call) {
  listener = call;
  addEventListener("popstate", call);
}

/** The parameters of a selection, as the API takes them. */
export function selection(view, more = {}) {
  const { airport, from, to, direction, by, count, similar } = view;
  const likeness = similar ? { similar } : { by, count };
  return { airport, from, to, direction, ...likeness, ...more };
}
