// Rows as points and columns as arrows on two components.
const MOST_ARROWS = 30, MOST_LABELS = 120, REACH = 0.85;
const plane = part("plane");
const controls = part("plane-controls");
let pixels = new Float64Array(0), seen = null;

const arrowOf = (j) => [state.across, state.up].map((a) => {
  const v = right[j * k + a], deviation = data.axes[a].deviation;
  return state.scaling === "form" ? v : state.scaling === "covariance" ? v * deviation : (v * deviation) / (spread[j] || Infinity);
});

const arrows = () => {
  if (!right) return [];
  const all = Array.from({ length: p }, (_, j) => ({ j, at: arrowOf(j) }));
  all.sort((a, b) => Math.hypot(...b.at) - Math.hypot(...a.at));
  const kept = all.slice(0, MOST_ARROWS);
  if (state.column >= 0 && !kept.some(({ j }) => j === state.column)) kept.push({ j: state.column, at: arrowOf(state.column) });
  return kept;
};

// The same scale in both directions, so that angles and distances are true.
const window2d = (tips, lines, { width, height }) => {
  const low = [0, 0], high = [0, 0];
  const take = (xy) => { for (const a of [0, 1]) { low[a] = Math.min(low[a], xy[a]); high[a] = Math.max(high[a], xy[a]); } };
  tips.forEach(take);
  if (withRows()) for (let i = 0; i < n; i++) take(point(i));
  if (state.scaling === "correlation") [[-1, -1], [1, 1]].forEach(take);
  const ends = [low.map((x, a) => x - 0.3 * (high[a] - x)), high.map((x, a) => x + 0.3 * (x - low[a]))];
  for (const { points } of lines) for (const xy of points) take(xy.map((x, a) => Math.max(ends[0][a], Math.min(x, ends[1][a]))));
  const room = [width - 64 - 20, height - 16 - 52];
  const scales = [0, 1].filter((a) => high[a] > low[a]).map((a) => (room[a] - (a ? 30 : Math.min(110, room[0] / 4))) / (high[a] - low[a]));
  const unit = scales.length ? Math.min(...scales) : 1;
  return [0, 1].map((a) => { const middle = (low[a] + high[a]) / 2, half = room[a] / 2 / unit; return { min: middle - half, max: middle + half }; });
};

const drawArrow = (tips) => (params, api) => {
  const tip = tips[params.dataIndex], [x1, y1] = api.coord([0, 0]), [x2, y2] = api.coord(tip.at);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, [u, v] = [(x2 - x1) / length, (y2 - y1) / length];
  const ink = tip.j === state.column ? colour("ink") : colour("red"), wide = tip.j === state.column ? 3 : 1.6;
  const base = [x2 - 9 * u, y2 - 9 * v];
  return { type: "group", children: [
    { type: "line", shape: { x1, y1, x2: base[0], y2: base[1] }, style: { stroke: ink, lineWidth: wide } },
    { type: "polygon", shape: { points: [[x2, y2], [base[0] - 4 * v, base[1] + 4 * u], [base[0] + 4 * v, base[1] - 4 * u]] }, style: { fill: ink } },
  ] };
};

const drawLine = (lines) => (params, api) => ({
  type: "polyline", shape: { points: lines[params.dataIndex].points.map((xy) => api.coord(xy)) },
  style: { stroke: lines[params.dataIndex].colour, lineWidth: 1.6, fill: "none", lineDash: lines[params.dataIndex].dash },
});

const planeOption = (size) => {
  const found = arrows(), reach = withRows() ? Math.max(...[0, 1].map((a) => { let most = 0; for (let i = 0; i < n; i++) most = Math.max(most, Math.abs(point(i)[a])); return most; })) : 0;
  const longest = found.reduce((most, { at }) => Math.max(most, Math.abs(at[0]), Math.abs(at[1])), 0);
  const stretch = reach > 0 && longest > 0 ? (REACH * reach) / longest : 1;
  const tips = found.map(({ j, at }) => ({ j, at: at.map((x) => x * stretch) }));
  const groups = withRows() ? colouring() : [];
  const around = { ellipses: ellipse, hulls: hull, none: () => null }[state.around];
  const lines = groups.map((group) => ({ points: group.count === undefined ? null : around(group), colour: group.colour })).filter(({ points }) => points);
  const middles = groups.filter((group) => group.count > 1).map((group) => ({ at: middle(group), name: group.name, colour: group.colour }));
  if (state.scaling === "correlation") lines.push({ points: Array.from({ length: 73 }, (_, i) => [Math.cos((i * Math.PI) / 36), Math.sin((i * Math.PI) / 36)]), colour: colour("soft") });
  const [xs, ys] = window2d(tips.map(({ at }) => at), lines, size);
  seen = { tips, stretch, groups, middles };
  const label = { showMinLabel: false, showMaxLabel: false, formatter: (x) => digits(x, 4) };
  const zero = { show: true, onZero: true, lineStyle: { color: colour("soft"), opacity: 0.6 } };
  const large = n > 2000, round = large ? 3.2 : 7;
  return {
    grid: { left: 64, right: 20, top: 16, bottom: 52 },
    xAxis: axis({ type: "value", ...xs, name: data.axes[state.across].label, nameLocation: "middle", nameGap: 30, axisLabel: label, axisLine: zero, splitLine: { showMinLine: false, showMaxLine: false } }),
    yAxis: axis({ type: "value", ...ys, name: data.axes[state.up].label, nameLocation: "middle", nameGap: 44, axisLabel: label, axisLine: zero, splitLine: { showMinLine: false, showMaxLine: false } }),
    dataZoom: [0, 1].map((a) => ({ type: "inside", [a ? "yAxisIndex" : "xAxisIndex"]: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, preventDefaultMouseMove: false })),
    series: [
      ...groups.map((group) => ({ type: "scatter", silent: true, large, largeThreshold: 1, symbol: group.shape, symbolSize: round, itemStyle: { color: group.colour, opacity: large ? 0.55 : 0.75 }, data: group.rows.map(point) })),
      { type: "custom", silent: true, renderItem: drawLine(lines), data: lines.map((_, i) => [i, 0]), encode: { x: [], y: [] }, clip: true },
      { type: "scatter", silent: true, symbol: "diamond", symbolSize: 15, z: 4, data: middles.map(({ at, colour: fill }) => ({ value: at, itemStyle: { color: fill, borderColor: colour("paper"), borderWidth: 2 } })) },
      { type: "custom", silent: true, renderItem: drawArrow(tips), data: tips.map(({ at }) => at), clip: true, z: 3 },
      { id: "ring", type: "scatter", silent: true, symbolSize: 16, itemStyle: { color: "transparent", borderColor: colour("ink"), borderWidth: 2.5 }, z: 5, data: withRows() && state.row >= 0 ? [point(state.row)] : [] },
      { id: "words", type: "scatter", silent: true, symbolSize: 0.1, z: 6, data: [] },
    ],
  };
};

const place = () => {
  const chart = figures.plane.chart, at = (xy) => chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, xy);
  const origin = at([0, 0]), one = at([1, 1]);
  pixels = new Float64Array(withRows() ? 2 * n : 0);
  for (let i = 0; i < pixels.length / 2; i++) {
    const [x, y] = point(i);
    pixels[2 * i] = origin[0] + (one[0] - origin[0]) * x;
    pixels[2 * i + 1] = origin[1] + (one[1] - origin[1]) * y;
  }
  return { at, origin };
};

// Names that would cover others are left out: arrows come first, then rows from the outside in.
const pen = document.createElement("canvas").getContext("2d");
const label = () => {
  const { at, origin } = place(), { width, height } = figures.plane.size();
  const inside = (x, y) => x > 60 && x < width - 16 && y > 12 && y < height - 48;
  const taken = [], words = [];
  const free = ([l, t, r, b]) => l >= 62 && r <= width - 4 && !taken.some((o) => l < o[2] && r > o[0] && t < o[3] && b > o[1]);
  const write = (text, x, y, xy, style) => {
    pen.font = `${style.fontWeight} ${style.fontSize}px ${FONT}`;
    const w = pen.measureText(text).width, boxes = [[x + 6, y - 8, x + 8 + w, y + 8], [x - 8 - w, y - 8, x - 6, y + 8]];
    const side = boxes.findIndex(free);
    if (side < 0) return;
    taken.push(boxes[side]);
    words.push({ value: xy, label: { show: true, position: side ? "left" : "right", distance: 6, formatter: () => text, textBorderColor: colour("paper"), textBorderWidth: 3, ...style } });
  };
  for (const { at: xy, name } of seen.middles) { const [x, y] = at(xy); if (inside(x, y)) write(inMiddle(name, 22), x, y, xy, { color: colour("ink"), fontSize: 12.5, fontWeight: 700 }); }
  for (const { j, at: xy } of seen.tips) { const [x, y] = at(xy); if (inside(x, y)) write(cutColumn(columnNames[j], 22), x, y, xy, { color: colour("arrow-ink"), fontSize: 12, fontWeight: 600 }); }
  const order = Array.from({ length: pixels.length / 2 }, (_, i) => i).filter((i) => inside(pixels[2 * i], pixels[2 * i + 1]));
  const far = (i) => Math.hypot(pixels[2 * i] - origin[0], pixels[2 * i + 1] - origin[1]);
  if (order.length < 3000) for (const i of order) taken.push([pixels[2 * i] - 3, pixels[2 * i + 1] - 3, pixels[2 * i] + 3, pixels[2 * i + 1] + 3]);
  const outer = order.map((i) => [far(i), i]).sort((a, b) => b[0] - a[0]).slice(0, MOST_LABELS);
  if (!data.rows.numbered) for (const [, i] of outer) write(cutRow(rowNames[i], 22), pixels[2 * i], pixels[2 * i + 1], point(i), { color: colour("soft"), fontSize: 11, fontWeight: 400 });
  figures.plane.chart.setOption({ series: [{ id: "words", data: words }] });
};

const legend = () => {
  const keys = state.colour ? seen.groups : [];
  part("plane-legend").replaceChildren(...keys.map((group) => {
    const swatch = make("i", { class: `swatch shape-${group.shape}` });
    swatch.style.backgroundColor = group.colour;
    return make("span", { class: "key" }, swatch, group.count === undefined ? group.name : `${group.name} (${group.count.toLocaleString("en")})`);
  }));
  const grouped = state.colour[0] === "g" && withRows();
  part("plane-ellipses").hidden = !(grouped && state.around === "ellipses");
  part("plane-hulls").hidden = !(grouped && state.around === "hulls");
  part("plane-middles").hidden = !grouped;
};

const near = (x, y, within = 14) => {
  let best = -1, least = within * within;
  for (let i = 0; i < pixels.length / 2; i++) {
    const gap = (pixels[2 * i] - x) ** 2 + (pixels[2 * i + 1] - y) ** 2;
    if (gap < least) { best = i; least = gap; }
  }
  return best;
};

const drawPlane = () => {
  if (!figures.plane) return;
  figures.plane.draw();
  label();
  legend();
  part("plane-meaning").textContent = data.meanings[state.scaling];
  part("plane-stretch").textContent = withRows() && right ? ` Arrows are scaled by ${digits(seen.stretch, 3)}, the same factor in every direction.` : "";
};

const describe = (i) => `${rowNames[i]}\n${[state.across, state.up].map((a) => `${data.axes[a].name} ${digits(scores[i * k + a])}`).join(", ")}`;

if (plane) {
  figure("plane", { height: (width) => Math.round(Math.max(300, Math.min(0.78 * width, 620))), option: planeOption, tip: (x, y) => { const i = near(x, y); return i < 0 ? "" : describe(i); } });
  figures.plane.chart.on("datazoom", label);
  figures.plane.chart.getZr().on("click", (event) => { const i = near(event.offsetX, event.offsetY); if (i >= 0) chooseRow(i); });
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("change", (event) => {
    const { across, up, scaling, colour: by, around } = controls.elements;
    if (across.value === up.value) { const other = event.target === across ? up : across; other.value = String((+other.value + 1) % k); }
    Object.assign(state, { across: +across.value, up: +up.value, scaling: scaling.value, colour: by ? by.value : "", around: around ? around.value : "ellipses" });
    drawPlane();
    if (figures.space) figures.space.draw();
    if (state.row >= 0) part("status").textContent = describe(state.row).replace("\n", ": ");
  });
  const zoom = (by) => {
    const [now] = figures.plane.chart.getOption().dataZoom, middle = (now.start + now.end) / 2;
    const half = by ? Math.min(50, ((now.end - now.start) / 2) * by) : 50, start = Math.max(0, Math.min(middle - half, 100 - 2 * half));
    for (const dataZoomIndex of [0, 1]) figures.plane.chart.dispatchAction({ type: "dataZoom", dataZoomIndex, start, end: start + 2 * half });
  };
  for (const button of controls.querySelectorAll("button[data-zoom]")) button.addEventListener("click", () => zoom(+button.dataset.zoom));
  plane.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") chooseRow(-1);
    if (!step || !pixels.length) return;
    event.preventDefault();
    const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => pixels[2 * a] - pixels[2 * b]);
    const next = state.row < 0 ? (step > 0 ? 0 : n - 1) : order.indexOf(state.row) + step;
    chooseRow(order[(next + n) % n]);
  });
  controls.hidden = false;
}
