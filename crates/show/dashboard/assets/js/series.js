// A figure over time, with the range of similar airports as a band.
import { show } from "./address.js";
import { element, link, table } from "./elements.js";
import { MEASURES, figure, figureOf, months, period } from "./words.js";

const rootSize = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const lastMonth = (year) => `${year}-12`;

/** What a click on a period shows: its months, or its days. */
function inside(text, overview) {
  const [year, month, day] = text.split("-");
  if (day) return null;
  if (month) return { from: text, to: text };
  const known = overview.months.filter((row) => row.month.startsWith(year)).map((row) => row.month);
  return { from: known[0] ?? `${year}-01`, to: known.at(-1) ?? lastMonth(year) };
}

const short = (text) => {
  const [year, month, day] = text.split("-");
  return day ? String(Number(day)) : month ? `${month}/${year.slice(2)}` : year;
};

class Plot {
  constructor(box, series, overview) {
    Object.assign(this, { box, series, overview, moments: series.moments, at: null });
    this.tip = element("div", { class: "tip", hidden: true, role: "status" });
    this.draw();
    new ResizeObserver(() => this.chart.setSize(this.extent)).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.box.isConnected && this.draw());
    box.addEventListener("keydown", (event) => this.step(event));
    box.addEventListener("blur", () => (this.tip.hidden = true));
    box.addEventListener("click", () => this.open());
  }

  get extent() {
    return { width: Math.max(200, Math.floor(this.box.clientWidth)), height: this.box.clientWidth < 500 ? 240 : 18.75 * rootSize() };
  }

  get data() {
    const { measure } = this.series;
    const of = (key) => this.moments.map((moment) => moment.similar?.[key] ?? null);
    return [this.moments.map((_, place) => place), of("high"), of("low"), of("median"), this.moments.map((moment) => figureOf(moment.figures, measure))];
  }

  draw() {
    this.chart?.destroy();
    const { measure } = this.series;
    const grid = { stroke: ink("grid"), width: 1 };
    const size = Math.round(rootSize() * 0.75);
    const axis = { stroke: ink("quiet"), font: `${size}px ${ink("font")}`, grid, ticks: { ...grid, size: 4 } };
    const line = (stroke, width, dash) => ({ stroke, width, dash, points: { show: this.moments.length < 40, size: 5, fill: stroke } });
    const tick = (place) => (Number.isInteger(place) && this.moments[place] ? short(this.moments[place].period) : "");
    this.chart = new uPlot({
      ...this.extent,
      padding: [10, 14, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: { x: { time: false, range: (_, min, max) => [min - 0.4, max + 0.4] }, y: { range: (_, min, max) => scale(min, max) } },
      axes: [
        { ...axis, incrs: [1, 2, 3, 4, 6, 7, 12, 24], values: (_, splits) => splits.map(tick) },
        { ...axis, size: size * 5.4, values: (_, splits) => splits.map((split) => figure(split, measure)) },
      ],
      bands: [{ series: [1, 2], fill: ink("band") }],
      series: [
        {},
        { stroke: ink("band-edge"), width: 1, points: { show: false } },
        { stroke: ink("band-edge"), width: 1, points: { show: false } },
        line(ink("quiet"), 1.5, [5, 4]),
        line(ink("accent"), 2.5),
      ],
      hooks: { setCursor: [(chart) => this.say(chart.cursor.idx)] },
    }, this.data, this.box);
    this.box.append(this.tip);
  }

  // Arrow keys move from period to period, and Enter opens one.
  step(event) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Enter") this.open();
    if (!move) return;
    event.preventDefault();
    const last = this.moments.length - 1;
    this.at = Math.min(Math.max((this.at ?? (move > 0 ? -1 : last + 1)) + move, 0), last);
    this.chart.setCursor({ left: this.chart.valToPos(this.at, "x"), top: 10 });
  }

  say(place) {
    const moment = this.moments[place];
    this.tip.hidden = !moment;
    if (!moment) return;
    this.at = place;
    this.tip.replaceChildren(element("strong", {}, period(moment.period)), ...sentences(moment, this.series).map((text) => element("span", {}, text)));
    const isLeft = place > this.moments.length / 2;
    this.tip.classList.toggle("left", isLeft);
  }

  open() {
    const next = this.moments[this.at] && inside(this.moments[this.at].period, this.overview);
    if (next) show(next);
  }
}

// From zero, unless figures are less; without any there is a scale all the same.
function scale(min, max) {
  if (min === null || max === null) return [0, 1];
  const low = Math.min(0, min);
  return [low < 0 ? low * 1.08 : 0, Math.max(max * 1.08, low + 1e-4)];
}

function sentences(moment, { airport, measure }) {
  if (!moment.has_data) return ["No data."];
  const own = figureOf(moment.figures, measure);
  const here = moment.figures ? (own === null ? `fewer than 30 flights (${moment.figures.flights})` : figure(own, measure)) : "no flights";
  const { similar } = moment;
  return [`${airport}: ${here}`, similar ? `Similar: ${figure(similar.median, measure)} (${figure(similar.low, measure)} to ${figure(similar.high, measure)})` : "Similar: not known"];
}

// All months, a year, a month: where one is, and the way back.
function trail(view, overview) {
  const all = { from: overview.months[0].month, to: overview.months.at(-1).month };
  const year = view.from.slice(0, 4);
  const steps = [["All months", all]];
  if (view.to.slice(0, 4) === year && all.from.slice(0, 4) !== all.to.slice(0, 4)) steps.push([year, inside(year, overview)]);
  if (view.from === view.to) steps.push([period(view.from), { from: view.from, to: view.to }]);
  const items = steps.map(([name, next]) => {
    const isHere = next.from === view.from && next.to === view.to;
    return element("li", {}, isHere ? element("span", { "aria-current": "page" }, name) : link(name, `Show ${name}`, () => show(next)));
  });
  return element("nav", { "aria-label": "Months" }, element("ol", { class: "trail" }, items));
}

/** What the section shows. */
export function series(answer, view, overview) {
  const { figures } = answer;
  const { measure } = figures;
  const missing = figures.moments.filter((moment) => !moment.has_data).length;
  const { name } = MEASURES[measure];
  const isKnown = figures.moments.some((moment) => figureOf(moment.figures, measure) !== null || moment.similar);
  const canOpen = figures.period !== "day";
  const box = element("div", {
    class: "plot", tabindex: "0", role: "application",
    "aria-label": `Plot: ${name}, ${months(view.from, view.to)}. Arrow keys move from ${figures.period} to ${figures.period}${canOpen ? ", Enter opens one" : ""}. The same figures are in the table below.`,
  });
  const opened = (moment) => {
    const next = canOpen && moment.has_data && inside(moment.period, overview);
    return next ? link(period(moment.period), `Open ${period(moment.period)}`, () => show(next)) : period(moment.period);
  };
  const columns = [
    { name: figures.period === "day" ? "Day" : figures.period === "month" ? "Month" : "Year", cell: opened },
    { name: "Flights", numeric: true, cell: (moment) => (moment.has_data ? figure(moment.figures?.flights ?? 0, "flights") : "no data") },
    ...(measure === "flights" ? [] : [{ name: figures.airport, numeric: true, cell: (moment) => figure(figureOf(moment.figures, measure), measure) }]),
    { name: "Similar, middle", numeric: true, cell: (moment) => figure(moment.similar?.median, measure) },
    { name: "Least", numeric: true, cell: (moment) => figure(moment.similar?.low, measure) },
    { name: "Greatest", numeric: true, cell: (moment) => figure(moment.similar?.high, measure) },
  ];
  const drawn = [
    element("p", { class: "legend" },
      element("span", { class: "key own" }, `${figures.airport}, ${MEASURES[measure].what}`),
      element("span", { class: "key middle" }, "middle of similar airports"), element("span", { class: "key band" }, "their range")),
    box,
    element("p", { class: "aside" }, [canOpen && "Click a point to open it. ", missing > 0 && `${missing} of ${figures.moments.length} periods have no data.`].filter(Boolean)),
  ];
  const empty = element("p", { class: "finding" }, `No ${figures.period} has 30 flights, here or at similar airports, so there is nothing to draw. Choose more months.`);
  if (isKnown) requestAnimationFrame(() => box.isConnected && new Plot(box, figures, overview));
  return [
    trail(view, overview),
    isKnown ? drawn : empty,
    element("details", { class: "as-table" }, element("summary", {}, "The same as a table"), table(`${name} over time`, columns, figures.moments)),
  ].flat();
}
