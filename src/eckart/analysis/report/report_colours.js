// Which rows belong together, and what is drawn around them.
const state = { across: 0, up: Math.min(1, k - 1), scaling: "form", colour: data.first_colour, around: "ellipses", row: -1, column: -1 };
const factor = (a) => (state.scaling === "covariance" ? 1 / (data.axes[a].deviation || 1) : 1);
const point = (i) => [scores[i * k + state.across] * factor(state.across), scores[i * k + state.up] * factor(state.up)];
const withRows = () => n > 0 && state.scaling !== "correlation";

// Viridis in ten steps.
const RAMP = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
const inPlane = (i) => scores[i * k + state.across] ** 2 + scores[i * k + state.up] ** 2;
const VALUES = {
  c: (place) => (i) => observed[i * p + place],
  q: () => (i) => (distances && distances[i] > 0 ? Math.min(1, inPlane(i) / distances[i] ** 2) : NaN),
  p: () => { const whole = data.axes[state.across].value ** 2 + data.axes[state.up].value ** 2; return (i) => (100 * (rowWeights ? rowWeights[i] : 1) * inPlane(i)) / (whole || 1); },
};
const colouring = () => {
  const everything = [{ name: "rows", colour: colour("blue"), shape: "circle", rows: Array.from({ length: n }, (_, i) => i) }];
  if (!state.colour) return everything;
  const [kind, place] = [state.colour[0], +state.colour.slice(1)];
  if (kind === "g") {
    const codes = unpack(data.colours[place].codes), groups = data.colours[place].groups;
    const found = groups.map((group, g) => ({ ...group, colour: colour(GROUPS[g % GROUPS.length]), shape: SHAPES[g % SHAPES.length], rows: [] }));
    codes.forEach((g, i) => found[g].rows.push(i));
    return found;
  }
  const values = Array.from({ length: n }, (_, i) => i).map(VALUES[kind](place)), known = values.filter(Number.isFinite);
  const low = kind === "q" ? 0 : known.reduce((a, b) => Math.min(a, b), Infinity), high = kind === "q" ? 1 : known.reduce((a, b) => Math.max(a, b), -Infinity);
  const unit = kind === "p" ? "\u00a0%" : "";
  const steps = RAMP.map((rgb, s) => ({ name: `${digits(low + ((high - low) * s) / 10, 3)} to ${digits(low + ((high - low) * (s + 1)) / 10, 3)}${unit}`, colour: `rgb(${rgb})`, shape: "circle", rows: [] }));
  const missing = { name: "missing", colour: colour("soft"), shape: "emptyCircle", rows: [] };
  values.forEach((x, i) => (Number.isFinite(x) ? steps[Math.min(9, Math.floor((10 * (x - low)) / (high - low || 1)))] : missing).rows.push(i));
  return [...steps, missing].filter((group) => group.rows.length);
};

const middle = (group) => [group.mean[state.across] * factor(state.across), group.mean[state.up] * factor(state.up)];

// 95 % of a normal group lies in the ellipse mean + sqrt(5.991) L (cos, sin), with L L^T its covariance.
const ellipse = (group) => {
  if (!group.covariance) return null;
  const [x, y] = [state.across, state.up], [f, g] = [factor(x), factor(y)];
  const a = group.covariance[x][x] * f * f, b = group.covariance[x][y] * f * g, c = group.covariance[y][y] * g * g;
  const l11 = Math.sqrt(Math.max(a, 0)), l21 = l11 ? b / l11 : 0, l22 = Math.sqrt(Math.max(c - l21 * l21, 0)), r = Math.sqrt(5.991464547107979);
  return Array.from({ length: 73 }, (_, i) => {
    const u = r * Math.cos((i * Math.PI) / 36), v = r * Math.sin((i * Math.PI) / 36);
    return [group.mean[x] * f + l11 * u, group.mean[y] * g + l21 * u + l22 * v];
  });
};

// Convex hull of the drawn rows of a group (Andrew's monotone chain).
const hull = (group) => {
  const points = group.rows.map(point).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (points.length < 3) return null;
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => list.reduce((kept, xy) => {
    while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), xy) <= 0) kept.pop();
    kept.push(xy);
    return kept;
  }, []);
  const lower = half(points), upper = half([...points].reverse());
  return [...lower.slice(0, -1), ...upper.slice(0, -1), lower[0]];
};
