// Elements: made from text, never from markup, so that nothing from outside is markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with properties and children; `class`, `data-…`, `aria-…` and `style` variables as attributes. */
export const element = (tag, properties, ...children) => filled(document.createElement(tag), properties, children);

/** The same, of a drawing. */
export const drawing = (tag, properties, ...children) => filled(document.createElementNS(SVG, tag), properties, children);

function filled(made, properties = {}, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("--")) made.style.setProperty(name, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A table: `columns` are `{ name, text?, numeric?, cell(row) }`; the first one heads its rows. */
export function table(caption, columns, rows, rowClass = () => null) {
  // A column of bars repeats the one before it, so it has no head of its own.
  const head = columns.map(({ name, numeric, class: kind }) =>
    (name ? element("th", { scope: "col", class: numeric ? "number" : kind }, name) : element("td", { class: kind })));
  const cell = (column, row, place) => {
    const content = column.cell(row);
    const properties = { class: column.numeric ? "number" : column.class };
    return place === 0 ? element("th", { scope: "row", ...properties }, content) : element("td", properties, content);
  };
  const body = rows.map((row) => element("tr", { class: rowClass(row) }, columns.map((column, place) => cell(column, row, place))));
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    element("table", {},
      element("caption", {}, element("span", {}, caption)),
      element("thead", {}, element("tr", {}, head)),
      element("tbody", {}, body)));
}

/** A bar as long as a share of the longest. */
export function bar(share, own) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("span", { class: own ? "bar own" : "bar", "aria-hidden": "true" }, element("span", { "--width": width }));
}

/** A button that looks like a link. */
export function link(text, label, onclick) {
  return element("button", { type: "button", class: "link", "aria-label": label, onclick }, text);
}
