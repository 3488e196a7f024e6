// Runs in the page before its own scripts. It isn't part of the shipped report.
"use strict";
window.inspection = (() => {
  // Texts on each canvas with their boxes in canvas pixels, since the canvas was last cleared.
  const texts = new WeakMap();
  const context = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = context;
  context.fillText = function (text, x, y, ...rest) {
    const size = this.measureText(text);
    const corners = [
      [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
      [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
    ].map(([left, top]) => this.getTransform().transformPoint({ x: left, y: top }));
    const [xs, ys] = [corners.map((corner) => corner.x), corners.map((corner) => corner.y)];
    const box = { text, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    texts.set(this.canvas, [...(texts.get(this.canvas) ?? []), box]);
    return fillText.call(this, text, x, y, ...rest);
  };
  context.clearRect = function (...area) {
    texts.delete(this.canvas);
    return clearRect.apply(this, area);
  };

  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))));
  const name = (element) => `${element.tagName.toLowerCase()}.${element.className?.baseVal ?? element.className}: ${element.textContent.slice(0, 40)}`;
  const visible = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && element.getBoundingClientRect().width > 0;
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const inScrollBox = (element) => {
    for (let outer = element.parentElement; outer; outer = outer.parentElement) if (scrolls(outer)) return true;
    return false;
  };

  // Elements that reach past the window, and text that overflows its box.
  function cutOff() {
    const found = [];
    if (document.scrollingElement.scrollWidth > innerWidth) found.push(`the page is ${document.scrollingElement.scrollWidth} wide`);
    for (const element of document.body.querySelectorAll("*")) {
      if (!visible(element) || inScrollBox(element) || element.closest(".skip, .uplot")) continue;
      const box = element.getBoundingClientRect();
      if (box.right > innerWidth + 0.5 || box.left < -0.5) found.push(`beyond the window: ${name(element)}`);
      const leaks = element.clientWidth && element.scrollWidth > element.clientWidth + 1 && !scrolls(element);
      if (leaks) found.push(`wider than its box: ${name(element)}`);
    }
    return found;
  }

  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  function axisTexts(canvas) {
    const boxes = texts.get(canvas) ?? [];
    const clipped = boxes.filter((box) => box.left < 0 || box.top < 0 || box.right > canvas.width || box.bottom > canvas.height);
    const pairs = boxes.flatMap((box, index) => boxes.slice(index + 1).filter((other) => overlap(box, other)).map((other) => `${box.text} over ${other.text}`));
    return { count: boxes.length, clipped: clipped.map((box) => box.text), overlapping: pairs };
  }

  function colour(css) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = css;
    const channels = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
    probe.remove();
    return channels;
  }

  // Number of a canvas's pixels with about this colour.
  function pixels(canvas, [r, g, b]) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const near = Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12;
      if (near && data[i + 3] > 200) count++;
    }
    return count;
  }

  // Checks each plot: the canvas contains the colour of each curve in the legend, and axis texts
  // are complete.
  function plots() {
    return [...document.querySelectorAll("figure.plot")].filter((figure) => figure.querySelector(".canvas")).map((figure) => {
      const canvas = figure.querySelector("canvas");
      if (!canvas) return { id: figure.id, missing: ["no canvas"], texts: { count: 0, clipped: [], overlapping: [] } };
      const shown = [...figure.querySelectorAll(".key[aria-pressed=true]:not(:disabled)")];
      const missing = shown.filter((key) => pixels(canvas, colour(key.style.getPropertyValue("--ink"))) < 8);
      return { id: figure.id, curves: shown.length, missing: missing.map((key) => key.textContent), texts: axisTexts(canvas), width: canvas.clientWidth, room: figure.clientWidth };
    });
  }

  // Checks tables: each bar has a length and a number; each heat map has colours, a legend and
  // numbers.
  function tables() {
    const faults = [];
    for (const row of document.querySelectorAll(".bars tr:not(.group)")) {
      const bar = row.querySelector(".bar span");
      const number = row.lastElementChild.textContent.trim();
      const isNothing = /^(0(?![.\d])|in memory)/.test(number);
      if (!isNothing && (!bar || bar.getBoundingClientRect().width < 1)) faults.push(`no bar: ${name(row)}`);
      if (isNothing && bar && bar.getBoundingClientRect().width >= 1) faults.push(`a bar of nothing: ${name(row)}`);
      if (!isNothing && !/\d/.test(number)) faults.push(`no number: ${name(row)}`);
    }
    for (const figure of document.querySelectorAll(".heat-figure")) {
      const cells = [...figure.querySelectorAll("td[style]")];
      const colours = new Set(cells.map((cell) => getComputedStyle(cell).backgroundColor));
      if (colours.size < 3) faults.push(`few colours: ${figure.id}`);
      if (cells.some((cell) => !/\d/.test(cell.textContent) || !cell.title)) faults.push(`cells without figures: ${figure.id}`);
      if (!figure.querySelector(".heat-legend span")) faults.push(`no legend: ${figure.id}`);
    }
    for (const figure of document.querySelectorAll("figure.plot")) {
      if (!figure.querySelector(".finding").textContent.trim()) faults.push(`no finding: ${figure.id}`);
      if (!figure.querySelector(".y-label").textContent.trim()) faults.push(`no unit: ${figure.id}`);
    }
    const targets = [...document.querySelectorAll(".contents a")].map((link) => link.getAttribute("href").slice(1));
    for (const target of targets) if (!document.getElementById(target)) faults.push(`a link to nowhere: ${target}`);
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    for (const id of ids.filter((id, index) => ids.indexOf(id) !== index)) faults.push(`twice: ${id}`);
    return { bars: document.querySelectorAll(".bar-figure").length, maps: document.querySelectorAll(".heat-figure").length, faults };
  }

  function headings() {
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((heading) => Number(heading.tagName[1]));
    const jumps = levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1);
    return { first: levels[0], tops: levels.filter((level) => level === 1).length, jumps };
  }

  function luminance(css) {
    const [r, g, b] = colour(css).map((channel) => channel / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  // Checks the contrast by WCAG 2.2: 4.5 for text, 3 for graphics.
  function lowContrast() {
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const check = (inks, grounds, least) => inks.flatMap((ink) => grounds.map((ground) => [ink, ground, ratio(luminance(`var(--${ink})`), luminance(`var(--${ground})`))]).filter(([, , found]) => found < least));
    const eight = [0, 1, 2, 3, 4, 5, 6, 7];
    return [
      ...check(["text", "quiet", "accent"], ["paper", "card"], 4.5),
      ...check(["text", "grave"], ["grave-paper"], 4.5),
      ...check(eight.flatMap((i) => [`kind-${i}`, `step-${i}`]), ["card"], 3),
    ].map((found) => found.join(" "));
  }

  // Opens the sections of a page and waits for their plots.
  async function openFolds() {
    for (const details of document.querySelectorAll(".fold > details")) details.open = true;
    await drawn();
  }

  // Opens all folds and tooltips.
  async function unfolded() {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const box of document.querySelectorAll(".canvas")) {
      for (let i = 0; i < 4; i++) box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    }
    await drawn();
    const tips = [...document.querySelectorAll(".tip")];
    return { cutOff: cutOff(), tips: tips.filter((tip) => tip.textContent && visible(tip)).length };
  }

  return {
    drawn,
    openFolds,
    unfolded,
    axes: () => [...document.querySelectorAll("canvas")].flatMap((canvas) => texts.get(canvas).map((box) => box.text)),
    async all() {
      await drawn();
      return { title: document.title, cutOff: cutOff(), plots: plots(), tables: tables(), headings: headings(), lowContrast: lowContrast() };
    },
  };
})();
