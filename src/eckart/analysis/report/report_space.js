// Three components at once, on a canvas that is turned by dragging or with the arrow keys.
const space = part("space");
if (space && scores && k > 2) {
  const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": "Rows on three components; the arrow keys rotate the view" });
  space.append(canvas);
  let [turn, tilt] = [0.6, 0.35];
  const three = [0, 1, 2];
  const chosen = () => [0, 1, 2].map((place) => +part(`space-${place}`).value);
  const project = ([x, y, z]) => {
    const [c, s, ct, st] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
    const [u, w] = [c * x + s * z, c * z - s * x];
    return [u, ct * y - st * w, st * y + ct * w];
  };
  const draw = () => {
    const axes = chosen(), width = Math.max(space.clientWidth, 200), height = Math.round(Math.max(280, Math.min(0.7 * width, 520)));
    const ratio = Math.max(2, devicePixelRatio);
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    let reach = 0;
    for (let i = 0; i < n; i++) reach = Math.max(reach, Math.hypot(...axes.map((a) => scores[i * k + a])));
    const unit = (0.46 * Math.min(width, height)) / (reach || 1), at = ([x, y]) => [width / 2 + unit * x, height / 2 - unit * y];
    pen.font = `12px ${FONT}`;
    pen.lineWidth = 1.2;
    for (const place of three) {
      const end = project(three.map((other) => (other === place ? 1.05 * reach : 0))), [x, y] = at(end), [x0, y0] = at([0, 0]);
      pen.strokeStyle = colour("soft");
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x, y);
      pen.stroke();
      pen.fillStyle = colour("ink");
      pen.textAlign = x > width / 2 ? "right" : "left";
      pen.fillText(data.axes[axes[place]].label, x, y - 5);
    }
    const dots = colouring().flatMap((group) => group.rows.map((i) => [project(axes.map((a) => scores[i * k + a])), group.colour]));
    dots.sort((a, b) => a[0][2] - b[0][2]);
    const size = n > 2000 ? 1.6 : 3.4;
    for (const [xyz, fill] of dots) {
      const [x, y] = at(xyz), depth = 0.5 + (0.5 * (xyz[2] + reach)) / (2 * reach || 1);
      pen.globalAlpha = 0.35 + 0.6 * depth;
      pen.fillStyle = fill;
      pen.beginPath();
      pen.arc(x, y, size * (0.6 + 0.6 * depth), 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
  };
  let last = null;
  canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    turn += (event.clientX - last[0]) / 120;
    tilt = Math.max(-1.5, Math.min(1.5, tilt + (event.clientY - last[1]) / 120));
    last = [event.clientX, event.clientY];
    draw();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[event.key];
    if (!by) return;
    event.preventDefault();
    turn += by[0];
    tilt = Math.max(-1.5, Math.min(1.5, tilt + by[1]));
    draw();
  });
  for (const place of three) part(`space-${place}`).addEventListener("change", draw);
  const folded = space.closest("details");
  folded.addEventListener("toggle", () => { if (folded.open) draw(); });
  part("space-png").addEventListener("click", () => canvas.toBlob((blob) => save(blob, "image/png", "space.png")));
  figures.space = { draw: () => { if (folded.open) draw(); } };
}
