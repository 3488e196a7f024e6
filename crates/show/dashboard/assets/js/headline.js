// The headline figures, beside those of similar airports.
import { show } from "./address.js";
import { element } from "./elements.js";
import { MEASURES, airport, count, figure } from "./words.js";

// Where a figure lies within the similar airports' range.
function range({ value, similar }, measure) {
  if (!similar || value === null) return null;
  const low = Math.min(similar.low, value, 0);
  const length = Math.max(similar.high, value) - low || 1;
  const place = (at) => `${((at - low) / length) * 100}%`;
  return element("div", { class: "range", "aria-hidden": "true" },
    element("span", { class: "span", "--from": place(similar.low), "--to": place(similar.high) }),
    element("span", { class: "median", "--at": place(similar.median) }),
    element("span", { class: "here", "--at": place(value) }));
}

function verdict({ value, similar, place }, measure) {
  if (value === null) return "Not known: fewer than 30 flights.";
  if (!similar) return "No similar airport to compare with.";
  const spread = `Similar airports: ${figure(similar.median, measure)} in the middle, ${figure(similar.low, measure)} to ${figure(similar.high, measure)}.`;
  if (measure === "flights") return spread;
  const { worse } = MEASURES[measure];
  const of = similar.airports + 1;
  if (value > similar.high) return `${spread} Here flights are ${worse} than at all of them.`;
  if (value < similar.low) return `${spread} Here it is better than at all of them.`;
  return `${spread} Place ${place} of ${of}, 1 being the best.`;
}

function card(comparison, view) {
  const { measure, value } = comparison;
  const isChosen = view.measure === measure;
  return element("li", { class: isChosen ? "card chosen" : "card" },
    element("h3", {}, element("button", {
      type: "button", class: "link", "aria-pressed": String(isChosen), id: `choose-${measure}`,
      onclick: () => show({ measure }), title: "Show over time and among airports",
    }, MEASURES[measure].name)),
    element("p", { class: "figure" }, figure(value, measure)),
    range(comparison, measure),
    element("p", { class: "verdict" }, verdict(comparison, measure)));
}

/** What the section shows. */
export function headline(answer, similar, view) {
  const { comparisons } = answer.figures;
  const { figures: like } = similar;
  const named = { flights: "flights", passengers: "passengers", population: "people" }[like.by] ?? "flights";
  const said = (row) => `${airport(row)} (${row.count === null ? "count not known" : count(row.count)})`;
  const own = like.count === null ? "" : ` ${count(like.count)} ${named} here;`;
  const list = like.similar.length
    ? `Compared with the ${like.similar.length} airports ${like.by ? `whose number of ${named} is nearest` : "of your list"}:${own} ${like.similar.map(said).join(", ")}.`
    : "No airport has data to compare with.";
  return [
    element("ul", { class: "cards" }, comparisons.map((comparison) => card(comparison, view))),
    element("p", { class: "aside" }, list),
  ];
}
