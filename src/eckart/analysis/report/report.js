// Draw everything once, and again when the width or the colours change.
const drawAll = () => {
  for (const [id, self] of Object.entries(figures)) if (id !== "plane" && id !== "row") self.draw();
  drawPlane();
  showRebuilt();
};

const theme = part("theme");
const darkNow = () => { const set = document.documentElement.dataset.theme; return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; };
const nameTheme = () => { theme.textContent = darkNow() ? "Light" : "Dark"; };
theme.addEventListener("click", () => { document.documentElement.dataset.theme = darkNow() ? "light" : "dark"; nameTheme(); drawAll(); });
theme.hidden = false;
nameTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { nameTheme(); drawAll(); });

let before = null;
addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme ?? ""; document.documentElement.dataset.theme = "light"; drawAll(); });
addEventListener("afterprint", () => { if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme; drawAll(); });

let wide = innerWidth, waiting = 0;
addEventListener("resize", () => { if (innerWidth === wide) return; wide = innerWidth; clearTimeout(waiting); waiting = setTimeout(drawAll, 80); });

if (n) {
  let farthest = 0, most = -1;
  for (let i = 0; i < n; i++) { const size = Math.hypot(...point(i)); if (size > most) { most = size; farthest = i; } }
  state.row = farthest;
}
drawAll();
if (state.row >= 0) showRow();
document.documentElement.dataset.drawn = "yes";
