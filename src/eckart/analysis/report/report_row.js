// One row: its coordinates, its contributions, and how well few components rebuild it.
const MOST_SHOWN = 14;
const centre = (j) => (mean ? mean[j] : 0), unit = (j) => (scale ? scale[j] : 1);
const rebuilt = (i, j, axes) => {
  let sum = 0;
  for (let a = 0; a < axes; a++) sum += scores[i * k + a] * right[j * k + a];
  return sum;
};
// The cell as it was decomposed: centred and scaled.
const treated = (i, j) => (observed[i * p + j] - centre(j)) / unit(j);
let rowLines = [];

const linesOf = (i) => {
  const all = Array.from({ length: p }, (_, j) => {
    const now = rebuilt(i, j, axesUsed), was = observed ? treated(i, j) : NaN;
    return { j, now, was, size: Math.max(Math.abs(now), Number.isFinite(was) ? Math.abs(was) : 0) };
  });
  all.sort((a, b) => b.size - a.size);
  return all.slice(0, MOST_SHOWN);
};

const rowFigure = right && n ? figure("row", {
  height: () => 64 + 24 * Math.max(rowLines.length, 1),
  option: ({ width }) => {
    const names = rowLines.map(({ j }) => columnNames[j]), longest = Math.max(4, ...names.map((name) => Math.min(name.length, 24)));
    const left = Math.min(16 + 7 * longest, 0.42 * width);
    const gap = (params, api) => {
      const [x1, y] = api.coord([api.value(0), api.value(2)]), x2 = api.coord([api.value(1), api.value(2)])[0];
      return { type: "line", shape: { x1, y1: y, x2, y2: y }, style: { stroke: colour("soft"), lineWidth: 2 } };
    };
    return {
      grid: { left, right: 18, top: 8, bottom: 46 },
      xAxis: axis({ type: "value", scale: false, name: data.unit, nameLocation: "middle", nameGap: 28, axisLabel: { formatter: (x) => digits(x, 4) } }),
      yAxis: axis({ type: "category", inverse: true, data: names, splitLine: { show: false }, axisLabel: { color: colour("ink"), interval: 0, hideOverlap: false, formatter: (name) => cutColumn(name, Math.max(6, Math.floor(left / 7) - 2)) } }),
      series: [
        ...(observed ? [{ type: "custom", silent: true, renderItem: gap, data: rowLines.map(({ was, now }, i) => [was, now, i]).filter(([was]) => Number.isFinite(was)), encode: { x: [0, 1], y: 2 } },
          { type: "scatter", symbol: "circle", symbolSize: 11, itemStyle: { color: "transparent", borderColor: colour("ink"), borderWidth: 2 }, data: rowLines.map(({ was }, i) => [was, i]), z: 3 }] : []),
        { type: "scatter", symbol: "diamond", symbolSize: 11, itemStyle: { color: colour("red") }, data: rowLines.map(({ now }, i) => [now, i]), z: 4 },
      ],
    };
  },
}) : null;

// The coordinate is the sum of the cells times their weights: the largest of these parts.
const made = (i, a) => {
  const parts = Array.from({ length: p }, (_, j) => [columnNames[j], (observed && Number.isFinite(treated(i, j)) ? treated(i, j) : rebuilt(i, j, k)) * right[j * k + a]]);
  return parts.sort((x, y) => Math.abs(y[1]) - Math.abs(x[1])).slice(0, 3).map(([name, x]) => `${cutColumn(name, 20)} ${x > 0 ? "+" : ""}${digits(x, 3)}`).join(", ");
};

const nearest = (i, count = 5) => {
  const gaps = Array.from({ length: n }, (_, other) => {
    let sum = 0;
    for (let a = 0; a < k; a++) sum += (scores[other * k + a] - scores[i * k + a]) ** 2;
    return [sum, other];
  });
  return gaps.filter(([, other]) => other !== i).sort((a, b) => a[0] - b[0]).slice(0, count).map(([, other]) => other);
};

const showRebuilt = () => {
  const output = part("axes-used");
  if (output) output.textContent = errorSentence();
  if (figures.errors) figures.errors.draw();
  if (!rowFigure || state.row < 0) return;
  rowLines = linesOf(state.row);
  rowFigure.draw();
  const back = (j, x) => x * unit(j) + centre(j);
  fill(part("row-table"), ["column", ...(observed ? ["observed"] : []), `reconstructed from ${axesUsed}`, ...(observed ? ["difference"] : [])],
    rowLines.map(({ j, now, was }) => [columnNames[j], ...(observed ? [digits(observed[state.row * p + j])] : []), digits(back(j, now)), ...(observed ? [digits(back(j, now) - observed[state.row * p + j])] : [])]));
};

const showRow = () => {
  const i = state.row, panel = part("row-panel");
  if (!panel) return;
  panel.hidden = i < 0;
  part("status").textContent = i < 0 ? "" : describe(i).replace("\n", ": ");
  for (const node of document.querySelectorAll(".row-name")) node.textContent = i < 0 ? "no row" : rowNames[i];
  if (i < 0) return;
  const t = Array.from(scores.subarray(i * k, (i + 1) * k)), all = distances ? distances[i] ** 2 : 0;
  const known = all > 0 && data.additive;
  fill(part("row-axes"), ["component", "coordinate", "contribution", ...(known ? ["cos²"] : []), ...(right && data.orthogonal ? ["main columns"] : [])], t.map((x, a) => [
    data.axes[a].name, digits(x), `${digits(data.axes[a].value ? 100 * (rowWeights ? rowWeights[i] : 1) * (x / data.axes[a].value) ** 2 : 0, 3)}\u00a0%`, ...(known ? [percent((x * x) / all, 1)] : []), ...(right && data.orthogonal ? [made(i, a)] : []),
  ]));
  part("row-near").replaceChildren(...nearest(i).flatMap((other, place) => {
    const button = make("button", { type: "button", class: "link" }, rowNames[other]);
    button.addEventListener("click", () => chooseRow(other));
    return place ? [", ", button] : [button];
  }));
  showRebuilt();
};

const chooseRow = (i) => {
  state.row = i;
  if (figures.plane) figures.plane.chart.setOption({ series: [{ id: "ring", data: withRows() && i >= 0 ? [point(i)] : [] }] });
  showRow();
};

const chooseColumn = (j) => {
  state.column = j;
  markedColumn = columnNames[j];
  drawPlane();
  if (figures.loadings) figures.loadings.draw();
  const parts = right ? Array.from({ length: k }, (_, a) => `${data.axes[a].name} ${digits(right[j * k + a])}`).join(", ") : "";
  part("status").textContent = `${columnNames[j]}: ${parts}`;
};

const slider = part("axes-slider");
if (slider) slider.value = String(axesUsed);
if (slider) slider.addEventListener("input", () => { axesUsed = +slider.value; showRebuilt(); });

// Find a row or a column by name: the list is walked with the arrow keys and taken with Enter.
const find = part("find"), hits = part("find-hits");
if (find) {
  let list = [], current = 0;
  const close = () => { hits.hidden = true; find.setAttribute("aria-expanded", "false"); };
  const take = (hit) => { close(); find.value = hit.name; if (hit.row >= 0) chooseRow(hit.row); else chooseColumn(hit.column); };
  const show = () => {
    hits.replaceChildren(...list.map((hit, i) => {
      const item = make("li", { role: "option", id: `hit-${i}`, "aria-selected": String(i === current), dir: "auto" }, hit.row >= 0 ? cutRow(hit.name, 60) : cutColumn(hit.name, 60), make("small", {}, hit.row >= 0 ? " row" : " column"));
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(hit); });
      return item;
    }));
    hits.hidden = !list.length;
    find.setAttribute("aria-expanded", String(list.length > 0));
    find.setAttribute("aria-activedescendant", list.length ? `hit-${current}` : "");
  };
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    const among = (names, of) => names.map((name, i) => ({ name, ...of(i), at: name.toLowerCase().indexOf(wanted) })).filter(({ at }) => at >= 0);
    list = wanted ? [...among(columnNames, (column) => ({ column, row: -1 })), ...among(rowNames, (row) => ({ row }))].sort((a, b) => a.at - b.at || a.name.length - b.name.length).slice(0, 10) : [];
    current = 0;
    show();
    part("status").textContent = wanted && !list.length ? "No row or column in the figures has this name." : "";
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); return; }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.length) { event.preventDefault(); current = (current + step + list.length) % list.length; show(); }
    if (event.key === "Enter") { event.preventDefault(); if (list[current]) take(list[current]); }
  });
  find.addEventListener("blur", close);
}
