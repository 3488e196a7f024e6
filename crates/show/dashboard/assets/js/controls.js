// The form in which one chooses what is shown.
import { show, view } from "./address.js";
import { ask } from "./ask.js";
import { element } from "./elements.js";
import { shortMonth } from "./words.js";

const field = (label, control, note) => element("div", { class: "field" }, element("label", { for: control.id }, label), control, note);
const choice = (value, text) => element("option", { value }, text);

const form = document.getElementById("controls");
const known = element("datalist", { id: "known-airports" });
const airport = element("input", { id: "airport", list: known.id, maxlength: "60", placeholder: "IAH", spellcheck: "false", autocapitalize: "characters" });
const from = element("select", { id: "from" });
const to = element("select", { id: "to" });
const direction = element("select", { id: "direction" }, choice("departures", "Departures"), choice("arrivals", "Arrivals"));
const by = element("select", { id: "by" });
const number = element("input", { id: "count", type: "number", min: "1", max: "50", inputmode: "numeric" });
const own = element("input", { id: "similar", maxlength: "200", placeholder: "ATL, ORD, DFW", spellcheck: "false", autocapitalize: "characters" });
const BY = { flights: "flights", passengers: "passengers", population: "population", listed: "a list of mine" };

const numberField = field("How many", number);
const ownField = field("Airports", own);

const codes = (text) => text.toUpperCase().split(/[\s,;]+/).filter(Boolean).join(",");

const fields = [
  field("Airport", airport), known, field("From", from), field("To", to), field("Flights", direction),
  field("Like it by", by), numberField, ownField];

// The controls stay as they are, so that news don't take the focus from one who chooses.
function offer(control, choices) {
  const chosen = control.value;
  control.replaceChildren(...choices);
  if (chosen) control.value = chosen;
}

/** Makes the form, or offers what there is to choose now; `overview` says what that is. */
export function make(overview) {
  const months = () => overview.months.map(({ month, flights }) => {
    const option = choice(month, flights ? shortMonth(month) : `${shortMonth(month)}: no data`);
    option.disabled = !flights;
    return option;
  });
  offer(from, months());
  offer(to, months());
  offer(by, [...overview.similar_by.map((name) => choice(name, BY[name])), choice("listed", BY.listed)]);
  if (!form.hasChildNodes()) form.append(...fields);
  update();
}

// The control that is being changed: what is in it isn't shown yet, and isn't overwritten.
let edited = null;
const write = (control, value) => control !== edited && (control.value = value);

/** Shows what the address says. */
export function update() {
  const said = view();
  write(airport, said.airport ?? "");
  write(from, said.from ?? "");
  write(to, said.to ?? "");
  write(direction, said.direction);
  write(by, said.similar ? "listed" : said.by);
  write(number, said.count);
  write(own, (said.similar ?? "").replaceAll(",", ", "));
  fold();
}

function fold() {
  numberField.hidden = by.value === "listed";
  ownField.hidden = by.value !== "listed";
}

/** The airports that the months have, which are offered to those who type. */
export async function airports(said, signal) {
  const answer = await ask("airports", { from: said.from, to: said.to, direction: said.direction }, signal);
  known.replaceChildren(...answer.figures.airports.map((row) => choice(row.airport, row.name ?? "")));
  return answer;
}

// A list that one types in, or steps through, has values on the way that aren't meant: the one at which it rests counts.
const REST_MS = 400;
let typedAt = Number.NEGATIVE_INFINITY;
let resting = 0;

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("keydown", (event) => (typedAt = event.timeStamp));
form.addEventListener("input", (event) => (edited = event.target));
form.addEventListener("change", ({ target, timeStamp }) => {
  edited = target;
  clearTimeout(resting);
  if (target.matches("select") && timeStamp - typedAt < REST_MS) resting = setTimeout(take, REST_MS);
  else take();
});
form.addEventListener("focusout", ({ target }) => (target.matches("select") ? take() : (edited = null)));

function take() {
  const target = edited;
  if (!target) return;
  clearTimeout(resting);
  edited = null;
  const changes = {};
  if (target === airport) Object.assign(changes, { airport: codes(airport.value).slice(0, 60), other: null });
  if (target === from) Object.assign(changes, { from: from.value, to: to.value < from.value ? from.value : to.value });
  if (target === to) Object.assign(changes, { to: to.value, from: from.value > to.value ? to.value : from.value });
  if (target === direction) changes.direction = direction.value;
  if (target === number && number.reportValidity()) changes.count = number.value;
  if (target === own) changes.similar = codes(own.value);
  if (target === by) {
    fold();
    if (by.value === "listed") return own.focus();
    Object.assign(changes, { by: by.value, similar: null });
  }
  show(changes);
}
