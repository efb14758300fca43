// Explained variance of each component: bars, certified bounds, the cumulative line.
const shown = data.axes.slice(0, 40);
const running = shown.reduce((sums, a) => [...sums, (sums.at(-1) || 0) + a.share], []);
const categoryAt = (id, x) => Math.round(figures[id].chart.convertFromPixel({ xAxisIndex: 0 }, x));

const bounds = (params, api) => {
  const [x, low] = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)])[1];
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour("ink"), lineWidth: 1.2 } });
  return { type: "group", children: [line(x - 6, low, x + 6, low), line(x - 6, high, x + 6, high), line(x, low, x, high)] };
};

// Whether a label such as "14.5 %" fits over its bar.
const room = (width) => (width - 64) / shown.length >= 44;

figure("scree", {
  height: (width) => (width < 500 ? 240 : 300),
  option: ({ width }) => ({
    grid: { left: 52, right: 12, top: 16, bottom: 34 },
    xAxis: axis({ type: "category", data: shown.map((a) => a.name), splitLine: { show: false } }),
    yAxis: axis({ type: "value", min: 0, max: data.additive ? 100 : undefined, axisLabel: { formatter: (x) => `${x} %` } }),
    series: [
      { type: "bar", data: shown.map((a) => 100 * a.share), itemStyle: { color: (x) => (data.recommended && x.dataIndex >= data.recommended ? colour("sky") : colour("blue")) }, barMaxWidth: 56, label: { show: room(width), position: "inside", color: readable(blend("blue", 1)), fontSize: 11.5, formatter: (x) => (x.value >= 8 ? percent(x.value / 100) : "") } },
      { type: "scatter", silent: true, symbolSize: 0.1, data: shown.map((a) => 100 * a.share), label: { show: room(width), position: "top", color: colour("soft"), fontSize: 11.5, formatter: (x) => (x.value < 8 ? percent(x.value / 100) : "") } },
      ...(shown[0] && shown[0].low !== null ? [{ type: "custom", renderItem: bounds, data: shown.map((a, i) => [i, 100 * a.low, 100 * (a.high ?? 1)]), z: 3 }] : []),
      ...(data.additive ? [{ type: "line", data: running.map((x) => 100 * x), symbol: "circle", symbolSize: 7, itemStyle: { color: colour("red") }, lineStyle: { color: colour("red"), width: 2 } }] : []),
    ],
  }),
  tip: (x) => {
    const i = categoryAt("scree", x), a = shown[i];
    if (!a) return "";
    const sure = a.low === null ? "" : `\ncertified ${percent(a.low, 3)} to ${percent(a.high ?? 1, 3)}`;
    return `${a.name}: ${percent(a.share, 2)}${sure}${data.additive ? `\ntogether ${percent(running[i], 2)}` : ""}`;
  },
});

// Loadings: one cell for each column and component.
const blend = (name, strength) => {
  const numbers = (text) => text.match(/[0-9a-f]{2}/gi).map((pair) => parseInt(pair, 16));
  const paper = numbers(colour("paper")), ink = numbers(colour(name));
  return `rgb(${paper.map((x, i) => Math.round(x + (ink[i] - x) * strength)).join(",")})`;
};
// Black or white, whichever stands out more.
const readable = (fill) => {
  const [r, g, b] = fill.match(/\d+/g).map((x) => { const part = x / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#111418" : "#ffffff";
};
const weights = (() => {
  if (!tables.heatmap) return null;
  const rows = tables.heatmap.rows, axes = tables.heatmap.columns.slice(1);
  const largest = rows.reduce((most, row) => row.slice(1).reduce((m, x) => Math.max(m, Math.abs(x)), most), 0) || 1;
  const cells = rows.flatMap((row, i) => axes.map((_, a) => [a, i, row[a + 1]]));
  return { rows, axes, cells, largest };
})();
let markedColumn = "";

const weightCell = (params, api) => {
  const value = api.value(2), strength = Math.abs(value) / weights.largest;
  const [x, y] = api.coord([api.value(0), api.value(1)]), [width, height] = api.size([1, 1]);
  const marked = weights.rows[api.value(1)][0] === markedColumn;
  const fill = blend(value >= 0 ? "red" : "blue", 0.04 + 0.9 * strength);
  const text = width > 40 ? { text: value.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "−"), x, y, align: "center", verticalAlign: "middle", fill: readable(fill), font: `12px ${FONT}` } : null;
  return {
    type: "group",
    children: [
      { type: "rect", shape: { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2, r: 3 }, style: { fill, stroke: marked ? colour("ink") : "none", lineWidth: 2 } },
      ...(text ? [{ type: "text", style: text }] : []),
    ],
  };
};

if (weights) figure("loadings", {
  height: () => 30 + 27 * weights.rows.length,
  option: ({ width }) => {
    const longest = Math.max(...weights.rows.map((row) => Math.min(row[0].length, 26)));
    const left = Math.min(16 + 7.2 * longest, 0.45 * width);
    return {
      grid: { left, right: Math.max(4, width - left - 92 * weights.axes.length), top: 26, bottom: 4 },
      xAxis: axis({ type: "category", position: "top", data: weights.axes, splitLine: { show: false }, axisLabel: { color: colour("ink"), fontWeight: 600, interval: 0 } }),
      yAxis: axis({ type: "category", inverse: true, data: weights.rows.map((row) => row[0]), splitLine: { show: false }, axisLabel: { color: colour("ink"), interval: 0, hideOverlap: false, formatter: (name) => cutColumn(name, Math.max(6, Math.floor(left / 7.2) - 2)) } }),
      series: [{ type: "custom", renderItem: weightCell, data: weights.cells }],
    };
  },
  tip: (x, y) => {
    const chart = figures.loadings.chart;
    if (!chart.containPixel("grid", [x, y])) return "";
    const [a, i] = chart.convertFromPixel("grid", [x, y]);
    const row = weights.rows[i];
    return row ? `${row[0]} on ${weights.axes[a]}: ${digits(row[a + 1])}` : "";
  },
});

// Reconstruction from the first components: the error that is left.
let axesUsed = data.model;
const errorSentence = () => {
  const error = data.errors[axesUsed];
  if (error === undefined) return `Reconstructed from ${axesUsed} of ${data.axes.length} components.`;
  const word = axesUsed === 1 ? "component explains" : "components explain";
  return `${axesUsed} ${word} ${percent(1 - error * error, 2)} of the ${data.word}; the relative error is ${percent(error, 2)}.`;
};

if (data.errors.length) figure("errors", {
  height: (width) => (width < 500 ? 200 : 220),
  option: () => ({
    grid: { left: 52, right: 16, top: 12, bottom: 44 },
    xAxis: axis({ type: "category", data: data.errors.slice(0, 41).map((_, i) => String(i)), name: "number of components", nameLocation: "middle", nameGap: 28, splitLine: { show: false } }),
    yAxis: axis({ type: "value", min: 0, max: 100, axisLabel: { formatter: (x) => `${x} %` } }),
    series: [
      { type: "line", data: data.errors.slice(0, 41).map((x) => 100 * x), symbol: "circle", symbolSize: 6, itemStyle: { color: colour("blue") }, lineStyle: { color: colour("blue"), width: 2 } },
      { type: "scatter", data: [[axesUsed, 100 * data.errors[axesUsed]]], symbolSize: 15, itemStyle: { color: "transparent", borderColor: colour("red"), borderWidth: 3 }, z: 4 },
    ],
  }),
  tip: (x) => {
    const i = categoryAt("errors", x);
    return data.errors[i] === undefined ? "" : `${i} component${i === 1 ? "" : "s"}: relative error ${percent(data.errors[i], 2)}`;
  },
});

// Rows far from the centre along the components, or far from the components; distances as multiples of their limits.
const outliers = data.outliers && ((pairs) => ({ t2: pairs.filter((_, i) => i % 2 === 0), q: pairs.filter((_, i) => i % 2) }))(unpack(data.outliers.distances));
if (outliers) figure("outliers", {
  height: (width) => Math.round(Math.max(260, Math.min(0.6 * width, 420))),
  option: () => {
    const most = (values) => 1.08 * values.reduce((a, b) => Math.max(a, b), 1.2);
    const [x, y] = [most(outliers.t2), most(outliers.q)], style = { color: colour("red"), type: "dashed", width: 1.5 };
    const both = Array.from(outliers.t2, (t, i) => [t, outliers.q[i], i]), far = both.filter(([t, q]) => t > 1 || q > 1);
    const names = far.sort((a, b) => Math.max(b[0] / x, b[1] / y) - Math.max(a[0] / x, a[1] / y)).slice(0, 12);
    const large = n > 2000;
    const dots = (name, shape, points, opacity) => ({ type: "scatter", silent: true, large, largeThreshold: 1, symbol: shape, symbolSize: large ? 3.2 : 7, itemStyle: { color: colour(name), opacity }, data: points.map(([t, q]) => [t, q]) });
    return {
      grid: { left: 52, right: 20, top: 12, bottom: 46 },
      xAxis: axis({ type: "value", min: 0, max: x, name: "T² / limit (distance along the components)", nameLocation: "middle", nameGap: 28, axisLabel: { showMaxLabel: false, formatter: (v) => digits(v, 3) } }),
      yAxis: axis({ type: "value", min: 0, max: y, name: "Q / limit (distance to the components)", nameLocation: "middle", nameGap: 36, axisLabel: { showMaxLabel: false, formatter: (v) => digits(v, 3) } }),
      series: [
        dots("blue", "circle", both.filter(([t, q]) => t <= 1 && q <= 1), large ? 0.4 : 0.7), dots("red", "triangle", far, 0.9),
        { type: "line", silent: true, symbol: "none", lineStyle: style, data: [[1, 0], [1, y]] }, { type: "line", silent: true, symbol: "none", lineStyle: style, data: [[0, 1], [x, 1]] },
        { type: "scatter", silent: true, symbolSize: 0.1, labelLayout: { hideOverlap: true }, data: names.map(([t, q, i]) => ({ value: [t, q], label: { show: true, position: t > 0.7 * x ? "left" : "right", color: colour("ink"), fontSize: 11, formatter: () => cutRow(rowNames[i], 22) } })) },
      ],
    };
  },
  tip: (x, y) => {
    const chart = figures.outliers.chart, [[x0, y0], [x1, y1]] = [[0, 0], [1, 1]].map((at) => chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, at));
    let best = -1, least = 196;
    for (let i = 0; i < n; i++) {
      const gap = (x0 + (x1 - x0) * outliers.t2[i] - x) ** 2 + (y0 + (y1 - y0) * outliers.q[i] - y) ** 2;
      if (gap < least) { best = i; least = gap; }
    }
    return best < 0 ? "" : `${rowNames[best]}\nT² ${digits(outliers.t2[best], 3)}, Q ${digits(outliers.q[best], 3)} times the limit`;
  },
});
