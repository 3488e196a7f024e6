// Draws the plots that the page's data describe. The page determines curves, units and findings;
// this script draws them on canvases and handles the reader's choices.
"use strict";
(() => {
  const root = document.documentElement;
  const ink = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const element = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // Markers as polygons on the unit circle, so that legend (SVG) and plot (canvas) have the same
  // shapes.
  const polygon = (corners, turn) =>
    Array.from({ length: corners }, (_, i) => {
      const angle = (i / corners + turn) * 2 * Math.PI;
      return [Math.sin(angle), -Math.cos(angle)];
    });
  const MARKERS = [
    polygon(24, 0), polygon(4, 1 / 8), polygon(3, 0), polygon(4, 0),
    polygon(3, 1 / 2), polygon(6, 0), polygon(5, 0), polygon(5, 1 / 2),
  ];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 4], [12, 4], [4, 2, 1, 2]];
  const pick = (list, index) => list[index % list.length];

  const SIZES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
  const number = (value, digits = 4) =>
    Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 }).replaceAll(",", "\u202f");
  function size(bytes) {
    const [scale, unit] = SIZES.find(([scale]) => bytes >= scale) ?? [1, "B"];
    return number(bytes / scale) + unit;
  }

  // Ticks of a logarithmic axis within its range.
  function powersOfTwo(min, max) {
    const ticks = [];
    for (let power = Math.ceil(Math.log2(min)); 2 ** power <= max; power++) ticks.push(2 ** power);
    return ticks;
  }
  function oneTwoFive(min, max) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++) {
      for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
    }
    return ticks.filter((tick) => tick >= min && tick <= max);
  }
  const thinned = (ticks, most) => {
    const step = Math.ceil(ticks.length / Math.max(most, 2));
    return ticks.filter((_, index) => index % step === 0);
  };

  class Plot {
    constructor(spec) {
      this.spec = spec;
      this.figure = document.getElementById(spec.id);
      this.box = this.figure.querySelector(".canvas");
      this.legend = this.figure.querySelector(".legend");
      this.view = spec.views[spec.chosen];
      this.figure.querySelector("select")?.addEventListener("change", (event) => this.choose(event.target.value));
      this.box.addEventListener("keydown", (event) => this.step(event));
      this.box.addEventListener("blur", () => this.say(null));
      this.fillLegend();
      this.draw();
      new ResizeObserver(() => this.resize()).observe(this.box);
    }

    choose(index) {
      this.view = this.spec.views[index];
      for (const table of this.figure.querySelectorAll("[data-view]")) table.hidden = table.dataset.view !== index;
      this.fillLegend();
      this.draw();
    }

    fillLegend() {
      this.legend.replaceChildren(...this.view.curves.map((curve) => this.legendKey(curve)));
    }

    legendKey(curve) {
      const key = element("button", { type: "button", className: "key", disabled: !curve.line.length });
      const corners = pick(MARKERS, curve.marker).map(([x, y]) => `${15 + 4.5 * x},${7 + 4.5 * y}`).join(" ");
      key.innerHTML =
        `<svg width="30" height="14" aria-hidden="true"><path d="M1 7H29" stroke-width="2" fill="none"/>` +
        `<polygon points="${corners}"/></svg>`;
      key.style.setProperty("--ink", `var(--${curve.colour})`);
      key.querySelector("path").setAttribute("stroke-dasharray", pick(DASHES, curve.dash).join(" "));
      key.append(element("bdi", { textContent: curve.label + (curve.line.length ? "" : " (nothing here)") }));
      key.ariaPressed = String(curve.shown);
      key.addEventListener("click", () => {
        curve.shown = !curve.shown;
        key.ariaPressed = String(curve.shown);
        this.draw();
      });
      return key;
    }

    get curves() {
      return this.view.curves.filter((curve) => curve.shown && curve.line.length);
    }

    // Width and height of the plot: the box's width on screen, a fixed width on paper.
    get extent() {
      const width = printing ? 660 : Math.floor(this.box.clientWidth);
      return { width, height: printing ? 225 : width < 480 ? 250 : 310 };
    }

    resize() {
      if (printing || !this.extent.width || this.extent.width === this.chart?.width) return;
      if (this.chart) this.chart.setSize(this.extent);
      else this.draw();
    }

    // A plot in a folded section has no width; it is drawn when the section opens.
    draw() {
      this.chart?.destroy();
      this.tip?.remove();
      this.chart = this.tip = null;
      if (!printing && !this.box.clientWidth) return;
      this.xs = [...new Set(this.curves.flatMap((curve) => curve.line.map(([x]) => x)))].sort((a, b) => a - b);
      const column = (curve) => {
        const values = new Map(curve.line);
        return this.xs.map((x) => values.get(x) ?? null);
      };
      const data = [this.xs, ...this.curves.map(column)];
      this.chart = new uPlot(this.options(), data, this.box);
      this.tip = this.box.appendChild(element("div", { className: "tip", hidden: true, ariaHidden: "true" }));
    }

    options() {
      const { x, y } = this.spec;
      const grid = { stroke: ink("grid"), width: 1 };
      const axis = { stroke: ink("quiet"), font: `12px ${ink("font")}`, grid, ticks: { ...grid, size: 4 }, gap: 4 };
      const logarithmic = x.kind !== "time";
      return {
        ...this.extent,
        padding: [8, 16, 0, 2],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
        scales: {
          x: { time: false, distr: logarithmic ? 3 : 1, log: 2, range: (_, min, max) => this.xRange(min, max) },
          y: { distr: y.log ? 3 : 1, log: 10, range: () => this.yRange() },
        },
        axes: [
          {
            ...axis,
            size: 30,
            label: x.label + (logarithmic ? " (logarithmic)" : ""),
            labelSize: 20,
            labelGap: 0,
            labelFont: axis.font,
            space: 60,
            ...(logarithmic && { splits: (u, _, min, max) => this.xTicks(u, min, max) }),
            filter: (_, splits) => splits,
            values: (_, splits) => splits.map((split) => (x.kind === "size" ? size(split) : number(split, 8))),
          },
          {
            ...axis,
            size: (_, values) => 14 + 7 * Math.max(...(values ?? [""]).map((value) => value.length)),
            space: 36,
            ...(y.log && { splits: (_, __, min, max) => thinned(oneTwoFive(min, max), 9) }),
            filter: (_, splits) => splits,
            values: (_, splits) => splits.map((split) => number(split)),
          },
        ],
        series: [{}, ...this.curves.map((curve) => this.line(curve))],
        hooks: { draw: [(u) => (this.drawMarks(u), this.drawPoints(u))], setCursor: [(u) => this.say(u.cursor.idx)] },
      };
    }

    // Ticks at powers of two if there is room, or at 1, 2, 5 for times below one. Without any in
    // range, the measured positions.
    xTicks(u, min, max) {
      const label = this.spec.x.kind === "size" ? 46 : 16 + 7 * Math.ceil(Math.max(Math.log10(max), 2));
      const room = u.bbox.width / devicePixelRatio / label;
      const ticks = this.xs[0] < 1 ? oneTwoFive(min, max) : powersOfTwo(min, max);
      return thinned(ticks.length ? ticks : this.xs, room);
    }

    line(curve) {
      return {
        label: curve.label,
        stroke: ink(curve.colour),
        width: this.spec.x.kind === "time" ? 1 : 1.75,
        dash: pick(DASHES, curve.dash),
        spanGaps: true,
        points: { show: false },
      };
    }

    xRange(min, max) {
      if (this.spec.x.kind !== "time") return [min / 1.25, max * 1.25];
      const margin = (max - min || 1) * 0.03;
      return [min - margin, max + margin];
    }

    // Range from zero, so that heights are in proportion, unless the axis is logarithmic. Includes
    // the whiskers.
    yRange() {
      const lines = this.curves.flatMap((curve) => curve.line.map(([, y]) => y));
      const ends = this.curves.flatMap((curve) => curve.measured.map(([, , , high]) => high ?? 0));
      const max = Math.max(...lines, ...ends, Number.MIN_VALUE);
      if (!this.curves.length) return [this.spec.y.log ? 0.1 : 0, 1];
      if (!this.spec.y.log) return [0, max * 1.06];
      const min = Math.min(...lines.filter((y) => y > 0));
      // Nearly equal values get a range with at least three ticks, so that the axis has numbers.
      if (oneTwoFive(min / 1.4, max * 1.4).length >= 3) return [min / 1.4, max * 1.4];
      return [oneTwoFive(min / 10, min / 1.02).at(-1), oneTwoFive(max * 1.02, max * 10)[0]];
    }

    // Dashed vertical line at each event.
    drawMarks(u) {
      u.ctx.save();
      u.ctx.strokeStyle = ink("quiet");
      u.ctx.lineWidth = devicePixelRatio;
      u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      for (const x of this.spec.marks) {
        const left = Math.round(u.valToPos(x, "x", true));
        u.ctx.beginPath();
        u.ctx.moveTo(left, u.bbox.top);
        u.ctx.lineTo(left, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
      }
      u.ctx.restore();
    }

    drawPoints(u) {
      const scale = devicePixelRatio;
      for (const curve of this.curves) {
        u.ctx.save();
        u.ctx.strokeStyle = u.ctx.fillStyle = ink(curve.colour);
        u.ctx.lineWidth = 1.25 * scale;
        u.ctx.setLineDash([]);
        // A lower bound of zero lies below any logarithmic scale.
        u.ctx.beginPath();
        u.ctx.rect(u.bbox.left - 6 * scale, u.bbox.top - 6 * scale, u.bbox.width + 12 * scale, u.bbox.height + 12 * scale);
        u.ctx.clip();
        for (const [x, y, low, high] of curve.measured) {
          const [left, top] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
          if (low !== null) {
            const bottom = low > 0 || !this.spec.y.log ? u.valToPos(low, "y", true) : u.bbox.top + 2 * u.bbox.height;
            this.whisker(u, left, bottom, u.valToPos(high, "y", true));
          }
          this.marker(u.ctx, pick(MARKERS, curve.marker), left, top, (this.spec.x.kind === "time" ? 2.5 : 4) * scale);
        }
        u.ctx.restore();
      }
    }

    whisker({ ctx }, x, low, high) {
      const cap = 3 * devicePixelRatio;
      ctx.beginPath();
      for (const [from, to] of [[[x, low], [x, high]], [[x - cap, low], [x + cap, low]], [[x - cap, high], [x + cap, high]]]) {
        ctx.moveTo(...from);
        ctx.lineTo(...to);
      }
      ctx.stroke();
    }

    marker(ctx, corners, x, y, radius) {
      ctx.beginPath();
      for (const [dx, dy] of corners) ctx.lineTo(x + radius * dx, y + radius * dy);
      ctx.closePath();
      ctx.fill();
    }

    // Arrow keys step through the measured positions, as the mouse does.
    step(event) {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || !this.xs.length) return;
      event.preventDefault();
      const last = this.xs.length - 1;
      this.at = Math.min(Math.max((this.at ?? (move > 0 ? -1 : last + 1)) + move, 0), last);
      const left = this.chart.valToPos(this.xs[this.at], "x");
      this.chart.setCursor({ left, top: 0 });
    }

    // Values of all curves at a position, in a tooltip.
    say(index) {
      if (!this.tip) return;
      this.tip.hidden = index === null || index === undefined;
      if (this.tip.hidden) return;
      const x = this.xs[index];
      const { kind } = this.spec.x;
      const at = kind === "size" ? size(x) : kind === "time" ? `${number(x)} s` : `${this.spec.x.label.split(",")[0]} ${number(x, 8)}`;
      const rows = this.curves.map((curve) => this.tipRow(curve, x)).filter(Boolean);
      this.tip.replaceChildren(element("strong", { textContent: at }), ...rows);
      // The tooltip is on the far side, so that it doesn't cover the point.
      const { over } = this.chart;
      const onTheLeft = this.chart.valToPos(x, "x") > over.clientWidth / 2;
      const gap = this.box.clientWidth - over.offsetLeft - over.clientWidth;
      this.tip.style.left = onTheLeft ? `${over.offsetLeft + 6}px` : "auto";
      this.tip.style.right = onTheLeft ? "auto" : `${gap + 6}px`;
    }

    tipRow(curve, x) {
      const measured = curve.measured.find(([at]) => at === x);
      const value = measured ? measured[1] : new Map(curve.line).get(x);
      if (value === undefined) return null;
      const bounds = measured && measured[2] !== null ? ` (${number(measured[2], 3)}–${number(measured[3], 3)})` : "";
      const row = element("span", { className: "row" });
      row.style.setProperty("--ink", `var(--${curve.colour})`);
      const said = `${number(value, 3)} ${this.spec.y.unit}${bounds}${measured ? "" : ", not measured"}`;
      row.append(element("bdi", { textContent: curve.short }), element("span", { textContent: said }));
      return row;
    }
  }

  function download(button) {
    const source = document.getElementById(button.dataset.download);
    const url = URL.createObjectURL(new Blob([source.textContent], { type: "application/json" }));
    element("a", { href: url, download: source.dataset.file }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  // Everything is unfolded for printing, and restored afterwards.
  const folds = [...document.querySelectorAll(".fold > details")];
  let folded = [];
  function unfold() {
    folded = folds.filter((details) => !details.open);
    for (const details of folded) details.open = true;
  }
  function refold() {
    for (const details of folded) details.open = false;
    folded = [];
  }

  // Fragment of the address, decoded if possible; a typed one may be invalid.
  function targetName() {
    const name = location.hash.slice(1);
    try {
      return decodeURIComponent(name);
    } catch {
      return name;
    }
  }

  // A link to a section opens it.
  function openTarget() {
    const details = document.getElementById(targetName())?.querySelector(":scope > details");
    if (details) details.open = true;
  }

  let printing = false;
  const specs = JSON.parse(document.getElementById("plot-data").textContent);
  const plots = specs.map((spec) => new Plot(spec));
  const redraw = () => plots.forEach((plot) => plot.draw());
  const print = (now) => {
    printing = now;
    root.classList.toggle("printing", now);
    if (now) unfold();
    else refold();
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  addEventListener("hashchange", openTarget);
  openTarget();
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => download(button));
  }
})();
