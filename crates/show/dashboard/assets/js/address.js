// The address contains the whole view, so it can be shared and the back button works.

const KEYS = ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "among", "other"];
const USUAL = { direction: "departures", by: "flights", count: "10", measure: "mean_delay", among: "similar" };

let listener = () => {};

/** View of the address, with defaults for missing parameters. */
export function view() {
  const said = new URLSearchParams(location.search);
  const known = Object.fromEntries(KEYS.filter((key) => said.get(key)).map((key) => [key, said.get(key)]));
  return { ...USUAL, ...known };
}

/** Changes the view. The back button undoes it, unless `replace` only completes the address. */
export function show(changes, { replace = false } = {}) {
  const next = { ...view(), ...changes };
  const query = new URLSearchParams();
  for (const key of KEYS) if (next[key] && next[key] !== USUAL[key]) query.set(key, next[key]);
  const address = `${location.pathname}${query.size ? `?${query.toString().replaceAll("%2C", ",")}` : ""}`;
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  listener();
}

/** Calls `call` when the view changes. */
export function onChange(call) {
  listener = call;
  addEventListener("popstate", call);
}

/** Parameters of a selection for the API. */
export function selection(view, more = {}) {
  const { airport, from, to, direction, by, count, similar } = view;
  const likeness = similar ? { similar } : { by, count };
  return { airport, from, to, direction, ...likeness, ...more };
}
