const part = (id) => document.getElementById(id);
const data = JSON.parse(part("numbers").textContent);
const tables = JSON.parse(part("tables").textContent);
const ARRAYS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array };

const unpack = (packed) => {
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
  const codes = new ARRAYS[packed.type](bytes.buffer);
  if (!packed.step) return codes;
  const p = packed.step.length;
  return Float64Array.from(codes, (code, i) => (code === 65535 ? NaN : packed.low[i % p] + packed.step[i % p] * code));
};

const shared = data.shared;
const k = data.k;
const rowNames = data.rows.names, columnNames = data.columns.names;
const n = rowNames.length, p = columnNames.length;
const scores = unpack(data.rows.scores), distances = unpack(data.rows.distances), rowWeights = unpack(data.rows.weights);
const right = unpack(data.columns.right), observed = unpack(data.observed);
const mean = unpack(data.columns.mean), scale = unpack(data.columns.scale), spread = unpack(data.columns.spread);

const digits = (x, count = 4) => {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return x.toExponential(count - 1);
  const text = (+x.toPrecision(count)).toLocaleString("en", { maximumFractionDigits: 8 });
  return text === "-0" ? "0" : text;
};
const percent = (x, places = 1) => { // less than everything is never rounded up to 100 %
  const f = 100 * 10 ** places, up = 1 - 0.5 / f <= x && x < 1 - 1e-9;
  return `${up ? (Math.floor(f * x) / 10 ** places).toFixed(places) : (100 * x).toFixed(places)}\u00a0%`;
};
// A long name is cut in the middle. Names with the same beginning keep the part in which they differ (short_names.py).
const inMiddle = (text, length) => {
  if (text.length <= length) return text;
  const tail = Math.floor((length - 1) / 3);
  return text.slice(0, length - 1 - tail) + "…" + text.slice(text.length - tail);
};
const common = (texts) => { let at = 0; while (at < texts[0].length && texts.every((text) => text[at] === texts[0][at])) at++; return at; };
const reversed = (text) => [...text].reverse().join("");
const differing = (text, start, end, length) => {
  start = text.slice(0, start).lastIndexOf(" ") + 1;
  const stop = end ? text.indexOf(" ", text.length - end) : -1;
  const part = text.slice(start, stop >= 0 ? stop : text.length), head = Math.min(start, Math.max(Math.floor(length / 4) - 1, 0));
  return start ? text.slice(0, head).trimEnd() + "…" + inMiddle(part, length - head - 1) : inMiddle(part, length);
};
const shortNames = (names, length) => {
  const short = new Map(names.map((name) => [name, inMiddle(name, length)])), groups = new Map();
  for (const name of short.keys()) {
    const start = name.slice(0, length >> 1);
    if (name.length > length) groups.set(start, [...(groups.get(start) || []), name]);
  }
  for (const group of groups.values()) {
    if (group.length === 1) continue;
    const start = common(group), end = Math.min(common(group.map(reversed)), Math.min(...group.map((name) => name.length)) - start);
    for (const name of group) short.set(name, differing(name, start, end, length));
  }
  return short;
};
const cutter = (names) => {
  const made = {};
  return (name, length) => (name.length <= length ? name : (made[length] ??= shortNames(names, length)).get(name) ?? inMiddle(name, length));
};
const cutRow = cutter(rowNames), cutColumn = cutter(columnNames);

const make = (kind, attributes = {}, ...children) => {
  const node = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
};

const fill = (table, head, rows) => {
  const words = (cell) => (/^[-–\d]/.test(cell) ? {} : { class: "word" });
  const line = (cells, first) => make("tr", {}, ...cells.map((cell, i) => {
    const kind = first ? { scope: "col", ...(i ? words(rows[0] ? rows[0][i] : "") : {}) } : i ? words(cell) : { scope: "row", dir: "auto" };
    return make(first || i === 0 ? "th" : "td", kind, cell);
  }));
  table.replaceChildren(make("thead", {}, line(head, true)), make("tbody", {}, ...rows.map((row) => line(row, false))));
};

// The colours of the page, as the style sheet has them now.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const GROUPS = ["blue", "orange", "green", "pink", "sky", "red", "yellow", "soft"];
const SHAPES = ["circle", "triangle", "rect", "diamond", "pin", "arrow", "roundRect", "circle"];

const box = part("tip-box");
const say = (text, x, y) => {
  box.textContent = text;
  box.hidden = !text;
  if (!text) return;
  box.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 10 : y + 18}px`;
};

// Every figure: how to draw it, what to say of the place under the pointer, and its files.
const figures = {};
const FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",sans-serif';
const figure = (id, { height, option, tip }) => {
  const holder = part(id);
  if (!holder) return null;
  const self = { id, holder, option };
  const size = () => ({ width: Math.max(holder.clientWidth, 200), height: height(Math.max(holder.clientWidth, 200)) });
  self.size = size;
  self.chart = echarts.init(holder, null, { renderer: "canvas", devicePixelRatio: Math.max(2, devicePixelRatio), ...size() });
  self.draw = () => {
    self.chart.resize(size());
    self.chart.setOption({ animation: false, textStyle: { fontFamily: FONT, color: colour("ink") }, ...option(size()) }, { notMerge: true });
  };
  if (tip) {
    const zr = self.chart.getZr();
    zr.on("mousemove", (event) => say(tip(event.offsetX, event.offsetY) || "", event.event.clientX, event.event.clientY));
    zr.on("globalout", () => say(""));
  }
  figures[id] = self;
  tools(self);
  return self;
};

const axis = (more = {}) => ({
  axisLine: { show: false, lineStyle: { color: colour("soft") } }, axisTick: { show: false },
  axisLabel: { color: colour("soft"), fontSize: 12, hideOverlap: true, ...more.axisLabel },
  splitLine: { show: true, lineStyle: { color: colour("grid") }, ...more.splitLine },
  nameTextStyle: { color: colour("ink"), fontSize: 12.5, ...more.nameTextStyle },
  ...Object.fromEntries(Object.entries(more).filter(([key]) => !["axisLabel", "splitLine", "nameTextStyle"].includes(key))),
});

const save = (content, type, name) => {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

const asSvg = (self) => {
  const size = self.size();
  const still = echarts.init(null, null, { renderer: "svg", ssr: true, ...size });
  still.setOption({ ...self.chart.getOption(), animation: false, backgroundColor: colour("paper") });
  const text = still.renderToSVGString();
  still.dispose();
  return text;
};

const asPng = (self) => {
  const address = self.chart.getDataURL({ type: "png", pixelRatio: 3, backgroundColor: colour("paper") });
  return Uint8Array.from(atob(address.split(",")[1]), (c) => c.charCodeAt(0));
};

const tools = (self) => {
  const bar = part(`${self.id}-tools`);
  if (!bar) return;
  const button = (text, run) => {
    const node = make("button", { type: "button", "aria-label": `Download the figure as ${text}` }, text);
    node.addEventListener("click", run);
    bar.append(node);
  };
  button("SVG", () => save(asSvg(self), "image/svg+xml", `${self.id}.svg`));
  button("PNG", () => save(asPng(self), "image/png", `${self.id}.png`));
};

// A name must not run as a formula in a spreadsheet.
const cell = (value) => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const asCsv = (columns, rows) => [columns, ...rows].map((row) => Array.from(row, cell).join(",")).join("\n") + "\n";
const scoreTable = () => ({ columns: ["row", ...data.axes.slice(0, k).map((a) => a.name)], rows: rowNames.map((name, i) => [name, ...scores.subarray(i * k, (i + 1) * k)]) });
const distanceTable = () => ({ columns: ["row", "T2 / limit", "Q / limit"], rows: rowNames.map((name, i) => [name, outliers.t2[i], outliers.q[i]]) });
for (const button of document.querySelectorAll("button[data-csv]")) {
  const id = button.dataset.csv;
  button.hidden = false;
  button.addEventListener("click", () => {
    const made = { scores: scoreTable, distances: distanceTable }[id], { columns, rows } = made ? made() : tables[id];
    save(asCsv(columns, rows), "text/csv", `${id}.csv`);
  });
}
for (const button of document.querySelectorAll("button[data-share]")) {
  const id = button.dataset.share, text = id === "command" ? part("share-command").textContent : shared[id];
  button.hidden = false;
  button.addEventListener("click", () => {
    const notify = (words) => { const before = button.textContent; button.textContent = words; setTimeout(() => { button.textContent = before; }, 1500); };
    if (button.dataset.how === "save") save(text, "text/plain", button.dataset.name);
    else if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => notify("Copied"), () => notify("Copying failed"));
    else notify("This browser does not allow copying");
  });
}
for (const button of document.querySelectorAll("button[data-figures]")) {
  button.hidden = false;
  button.addEventListener("click", () => { for (const self of Object.values(figures)) if (self.chart) save(asSvg(self), "image/svg+xml", `${self.id}.svg`); });
}
