// Shows what the address says, and again whenever it changes or there are new data.
import { onChange, selection, show, view } from "./address.js";
import { airlines } from "./airlines.js";
import { ask, listen } from "./ask.js";
import * as controls from "./controls.js";
import { cost, isUnmeasured } from "./cost.js";
import { element } from "./elements.js";
import { headline } from "./headline.js";
import { pair, pairs } from "./pairs.js";
import { choose, ranking } from "./ranking.js";
import { remembered } from "./remembered.js";
import { series } from "./series.js";
import { months } from "./words.js";

const byId = (id) => document.getElementById(id);
const USUAL_MONTHS = 12;

let overview = null;
let version = null;
let asking = new AbortController();

/** Each section: whether it is shown, what it asks, and how it shows the answers. */
const SECTIONS = {
  choose: { when: (said) => !said.airport, ask: (said, signal) => [controls.airports(said, signal)], draw: ([answer]) => choose(answer) },
  headline: {
    ask: (said, signal) => [ask("headline", selection(said), signal), ask("similar", selection(said), signal)],
    draw: ([answer, similar], said) => headline(answer, similar, said),
  },
  series: { ask: (said, signal) => [ask("series", selection(said, { measure: said.measure }), signal)], draw: ([answer], said) => series(answer, said, overview) },
  airlines: { ask: (said, signal) => [ask("airlines", selection(said), signal)], draw: ([answer]) => airlines(answer) },
  pairs: { ask: (said, signal) => [ask("pairs", selection(said), signal)], draw: ([answer], said) => pairs(answer, said) },
  pair: {
    when: (said) => Boolean(said.airport && said.other),
    ask: (said, signal) => [ask("pair", selection(said, { other: said.other }), signal)],
    draw: ([answer], said) => pair(answer, said),
  },
  ranking: { ask: (said, signal) => [ask("ranking", selection(said, { measure: said.measure, among: said.among }), signal)], draw: ([answer], said) => ranking(answer, said) },
};

// While a new answer is on its way the one before is shown, faded.
async function fill(name, said, signal) {
  const { when = (said) => Boolean(said.airport), ask, draw } = SECTIONS[name];
  const section = byId(name);
  section.hidden = !when(said);
  const body = section.querySelector(".body");
  if (section.hidden) return body.replaceChildren();
  section.ariaBusy = "true";
  if (!body.hasChildNodes()) body.append(element("p", { class: "loading" }, "Asking…"));
  try {
    const answers = await Promise.all(ask(said, signal));
    // The same query may answer several questions.
    const queries = [...new Map(answers.flatMap((answer) => answer.queries).map((query) => [query.sql, query])).values()];
    const isFirst = !body.querySelector(":scope > :not(.loading)");
    const restore = remembered(body);
    body.replaceChildren(...draw(answers, said), cost(queries));
    restore(section.querySelector("h2"));
    if (name === "pair" && isFirst) section.querySelector("h2").focus();
  } catch (problem) {
    if (problem.name === "AbortError") return;
    body.replaceChildren(failure(problem));
    if (!problem.title) throw problem;
  }
  section.ariaBusy = "false";
}

function failure(problem) {
  const sentence = /[.?!]$/.test(problem.message) ? problem.message : `${problem.message}.`;
  const after = problem.retryAfter ? ` Try again after ${problem.retryAfter} s.` : "";
  return element("div", { class: "failure" },
    element("p", {}, element("strong", {}, `${problem.title ?? "Something went wrong"}. `), `${sentence}${after}`),
    // Without an overview nothing can be drawn.
    element("button", { type: "button", onclick: () => (overview ? draw() : restart()) }, "Try again"));
}

function name(said) {
  const title = said.airport ? `Flights ${said.direction === "arrivals" ? "to" : "from"} ${said.airport}` : "How do an airport’s flights do?";
  byId("title").textContent = title;
  document.title = said.airport ? `${title}, ${months(said.from, said.to)}` : "Flights of an airport";
  byId("lead").textContent = said.airport
    ? `${months(said.from, said.to)}, beside airports like it.`
    : "Choose an airport. Its delays, cancellations and diversions are shown beside those of airports like it.";
}

async function draw() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  byId("main").ariaBusy = "true";
  try {
    const said = await known(view(), signal);
    if (signal.aborted) return;
    controls.update();
    name(said);
    await Promise.all(Object.keys(SECTIONS).map((section) => fill(section, said, signal)));
  } finally {
    if (!signal.aborted) byId("main").ariaBusy = "false";
  }
}

// An airport without flights in these months is said once, and others are offered.
async function known(said, signal) {
  byId("unknown")?.remove();
  const answer = await controls.airports(said, signal).catch(() => null);
  const codes = answer?.figures.airports.map((row) => row.airport);
  if (!said.airport || !codes || codes.includes(said.airport)) return said;
  const sentence = `${said.airport} has no flights in ${months(said.from, said.to)}. Choose other months, or one of these airports.`;
  byId("notices").append(element("p", { class: "notice", id: "unknown" }, sentence));
  return { ...said, airport: undefined };
}

/** Months that the address doesn't say: the last year that there is. */
function complete() {
  const known = overview.months.filter((row) => row.flights > 0);
  const said = view();
  if (!known.length || (said.from && said.to)) return;
  const to = said.to ?? known.at(-1).month;
  const before = overview.months.filter((row) => row.month <= to).slice(-USUAL_MONTHS);
  show({ to, from: said.from ?? before[0].month }, { replace: true });
}

async function begin() {
  const answer = await ask("overview", {});
  overview = answer.figures;
  version = answer.version;
  byId("notices").replaceChildren();
  // A snapshot's number says enough: of which table it is, programs want to know.
  byId("data-state").textContent = `· ${overview.flights.toLocaleString("en")} flights · ${version.replace(/^(snapshot-\d+)-.*/, "$1")}`;
  const unknown = overview.flights_without_month;
  if (unknown) byId("notices").append(element("p", { class: "notice" }, `${unknown.toLocaleString("en")} flights are left out, because their month isn’t known.`));
  if (!overview.months.length) {
    byId("notices").replaceChildren(element("p", { class: "notice" }, "The table has no flights yet. They appear here when some are loaded."));
    return;
  }
  controls.make(overview);
  complete();
  await draw();
}

async function restart() {
  try {
    await begin();
  } catch (problem) {
    byId("notices").replaceChildren(failure(problem));
  }
}

onChange(() => overview && draw());
await restart();
listen(
  (told) => {
    if (told === version) return;
    byId("data-state").textContent = "· new data, asking…";
    restart();
  },
  () => overview && isUnmeasured() && draw(),
  (isConnected) => {
    document.body.classList.toggle("stale", !isConnected);
    byId("notices").querySelector(".stale-note")?.remove();
    if (!isConnected) byId("notices").append(element("p", { class: "notice stale-note" }, "The server doesn’t answer: what is shown may be out of date. Trying again by itself."));
  },
);
