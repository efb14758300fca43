"use strict";
(() => {
  const box = document.getElementById("tip-box");
  const say = (text, x, y) => {
    box.textContent = text;
    box.hidden = !text;
    if (!text) return;
    box.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
    box.style.top = (y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 10 : y + 18) + "px";
  };

  for (const mark of document.querySelectorAll(".mark")) {
    const title = mark.querySelector("title");
    const text = title.textContent.replace(/; /g, "\n");
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
    mark.addEventListener("pointermove", (event) => { mark.classList.add("over"); say(text, event.clientX, event.clientY); });
    mark.addEventListener("pointerleave", () => { mark.classList.remove("over"); say(""); });
  }

  const plane = document.getElementById("plane");
  if (!plane) return;
  const data = JSON.parse(document.getElementById("numbers").textContent);
  const meanings = {
    form: "Form biplot: distances between points stand for distances between rows",
    covariance: "Covariance biplot: angles between arrows show correlations between columns",
  };
  const edge = {};
  for (const side of ["left", "right", "top", "bottom"]) edge[side] = +plane.dataset[side];
  const part = (name) => document.getElementById(name);
  const form = document.querySelector(".controls");
  const dots = [...part("dots").children];
  let where = [];
  let current = -1;

  const make = (kind, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const ticks = (low, high) => {
    const raw = (high - low) / 6;
    if (!(raw > 0)) return [0];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => raw <= s * 1.000000001);
    const found = [];
    for (let i = Math.ceil(low / step); i <= high / step; i++) found.push(+(i * step).toPrecision(12));
    return found;
  };

  const settings = () => {
    const across = +form.elements.across.value, up = +form.elements.up.value;
    return { pair: [across, up], covariance: form.elements.scaling.value === "covariance" };
  };

  const coordinates = ({ pair, covariance }) => {
    const deviation = (a) => data.deviations[a] || 1;
    const points = data.scores.map((t) => pair.map((a) => (covariance ? t[a] / deviation(a) : t[a])));
    const arrows = data.loadings.map((v, j) => ({ name: data.columns[j], at: pair.map((a) => (covariance ? v[a] * deviation(a) : v[a])) }));
    arrows.sort((a, b) => Math.hypot(...b.at) - Math.hypot(...a.at));
    return { points, arrows: arrows.slice(0, data.most_arrows) };
  };

  const largest = (list) => list.reduce((most, xy) => Math.max(most, Math.abs(xy[0]), Math.abs(xy[1])), 0);

  const view = (all) => {
    const low = [0, 0], high = [0, 0];
    for (const xy of all) for (const a of [0, 1]) { low[a] = Math.min(low[a], xy[a]); high[a] = Math.max(high[a], xy[a]); }
    const room = [edge.right - edge.left - 120, edge.bottom - edge.top - 40];
    const scales = [0, 1].filter((a) => high[a] > low[a]).map((a) => room[a] / (high[a] - low[a]));
    const scale = scales.length ? Math.min(...scales) : 1;
    const middle = [0, 1].map((a) => (low[a] + high[a]) / 2);
    const place = ([x, y]) => [
      (edge.left + edge.right) / 2 + scale * (x - middle[0]),
      (edge.top + edge.bottom) / 2 - scale * (y - middle[1]),
    ];
    return { scale, middle, place };
  };

  const drawTicks = ({ scale, middle, place }) => {
    const half = [(edge.right - edge.left) / 2 / scale, (edge.bottom - edge.top) / 2 / scale];
    const nodes = [];
    for (const t of ticks(middle[0] - half[0], middle[0] + half[0])) {
      const x = place([t, 0])[0];
      nodes.push(make("line", { class: "grid", x1: x, x2: x, y1: edge.top, y2: edge.bottom }));
      nodes.push(make("text", { class: "tick", x, y: edge.bottom + 16, "text-anchor": "middle" }, t));
    }
    for (const t of ticks(middle[1] - half[1], middle[1] + half[1])) {
      const y = place([0, t])[1];
      nodes.push(make("line", { class: "grid", x1: edge.left, x2: edge.right, y1: y, y2: y }));
      nodes.push(make("text", { class: "tick", x: edge.left - 8, y, "text-anchor": "end", "dominant-baseline": "central" }, t));
    }
    const zero = place([0, 0]);
    nodes.push(make("path", { class: "zero", d: `M${edge.left} ${zero[1]}H${edge.right}M${zero[0]} ${edge.top}V${edge.bottom}` }));
    part("ticks").replaceChildren(...nodes);
  };

  const drawLabels = (wanted) => {
    const taken = [], around = where.map(([x, y]) => [x - 3, y - 3, x + 3, y + 3]);
    const free = ([l, t, r, b]) => l >= edge.left && r <= edge.right + 16 && !taken.some((o) => l < o[2] && r > o[0] && t < o[3] && b > o[1]);
    const nodes = [];
    let arrows = true;
    for (const { name, x, y, kind } of wanted) {
      if (arrows && kind === "dot-label") { taken.push(...around); arrows = false; }
      const text = name.length > 20 ? name.slice(0, 17) + "..." : name;
      const width = data.letter * text.length;
      const sides = [[x + 6, y - 7, x + 6 + width, y + 7], [x - 6 - width, y - 7, x - 6, y + 7]];
      const side = sides.findIndex(free);
      if (side < 0) continue;
      taken.push(sides[side]);
      const place = { x: side ? x - 6 : x + 6, y, "text-anchor": side ? "end" : "start" };
      nodes.push(make("text", { class: kind, ...place, "dominant-baseline": "central" }, text));
    }
    part("labels").replaceChildren(...nodes.reverse());
  };

  const draw = () => {
    const chosen = settings();
    const { points, arrows } = coordinates(chosen);
    const reach = largest(points), longest = largest(arrows.map((arrow) => arrow.at));
    const stretch = reach > 0 && longest > 0 ? (data.reach * reach) / longest : 1;
    const tips = arrows.map((arrow) => arrow.at.map((x) => x * stretch));
    const seen = view(points.concat(tips));
    const zero = seen.place([0, 0]);
    drawTicks(seen);
    where = points.map(seen.place);
    where.forEach(([x, y], i) => { dots[i].setAttribute("cx", x); dots[i].setAttribute("cy", y); });
    part("arrows").replaceChildren(...tips.map(seen.place).map(([x, y]) =>
      make("line", { class: "arrow", x1: zero[0], y1: zero[1], x2: x, y2: y, "marker-end": "url(#tip)" })));
    const far = where.map((xy, i) => ({ name: data.rows[i], x: xy[0], y: xy[1], kind: "dot-label" }));
    far.sort((a, b) => Math.hypot(b.x - zero[0], b.y - zero[1]) - Math.hypot(a.x - zero[0], a.y - zero[1]));
    const names = arrows.map((arrow, i) => { const [x, y] = seen.place(tips[i]); return { name: arrow.name, x, y, kind: "arrow-label" }; });
    drawLabels(names.concat(far.slice(0, 150)));
    part("across-label").textContent = data.axes[chosen.pair[0]].label;
    part("up-label").textContent = data.axes[chosen.pair[1]].label;
    part("meaning").textContent = meanings[form.elements.scaling.value];
    if (part("stretch")) part("stretch").textContent = +stretch.toPrecision(3);
    choose(-1);
  };

  const describe = (i) => {
    const numbers = settings().pair.map((a) => `${data.axes[a].name} ${data.scores[i][a]}`);
    return `${data.rows[i]}\n${numbers.join(", ")}`;
  };

  const choose = (i) => {
    current = i;
    const [x, y] = i < 0 ? [-99, -99] : where[i];
    part("ring").setAttribute("cx", x);
    part("ring").setAttribute("cy", y);
    part("told").textContent = i < 0 ? "" : describe(i).replace("\n", ": ");
  };

  const inPixels = (event) => {
    const frame = plane.getBoundingClientRect(), factor = plane.viewBox.baseVal.width / frame.width;
    return [(event.clientX - frame.left) * factor, (event.clientY - frame.top) * factor];
  };

  plane.addEventListener("pointermove", (event) => {
    const [x, y] = inPixels(event);
    let best = -1, nearest = 12;
    where.forEach((xy, i) => { const gap = Math.hypot(xy[0] - x, xy[1] - y); if (gap < nearest) { best = i; nearest = gap; } });
    choose(best);
    say(best < 0 ? "" : describe(best), event.clientX, event.clientY);
  });
  plane.addEventListener("pointerleave", () => { choose(-1); say(""); });
  plane.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") choose(-1);
    if (!step || !where.length) return;
    event.preventDefault();
    const order = where.map((_, i) => i).sort((a, b) => where[a][0] - where[b][0]);
    const next = current < 0 ? (step > 0 ? 0 : order.length - 1) : order.indexOf(current) + step;
    choose(order[(next + order.length) % order.length]);
  });

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    const { across, up } = form.elements;
    if (across.value === up.value) {
      const other = event.target === across ? up : across;
      other.value = String((+other.value + 1) % data.axes.length);
    }
    if (event.target.name !== "find") draw();
  });
  if (form.elements.find) form.elements.find.addEventListener("input", () => {
    const wanted = form.elements.find.value.trim().toLowerCase();
    const hits = data.rows.map((name) => wanted !== "" && name.toLowerCase().includes(wanted));
    dots.forEach((dot, i) => { dot.classList.toggle("found", hits[i]); dot.classList.toggle("dim", wanted !== "" && !hits[i]); });
    const count = hits.filter(Boolean).length;
    if (count === 1) choose(hits.indexOf(true)); else choose(-1);
    if (wanted && count !== 1) part("told").textContent = `${count} rows found`;
  });
  form.hidden = false;
  draw();
})();
