// Shows one step after the other, or all steps with their results covered.
// "Next" first reveals the result of a step, then moves on; arrow keys, space and the keys of presenters do the same.
"use strict";
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const bar = document.querySelector(".player");
  const button = (name) => bar.querySelector(`[data-do="${name}"]`);
  const result = (step) => step.querySelector(".result");
  let mode = bar.dataset.mode || "all"; // "all", "playing" or "covered"
  let place = 0;
  let shown = true;
  const open = new Set(); // steps whose result was asked for while results are covered

  const revealers = new Map();
  for (const step of steps.slice(1)) {
    if (!result(step)) continue;
    const reveal = document.createElement("button");
    reveal.type = "button";
    reveal.className = "reveal";
    reveal.textContent = button("result").textContent;
    reveal.addEventListener("click", () => { open.add(step); draw(); });
    result(step).before(reveal);
    revealers.set(step, reveal);
  }

  function isHidden(step, i) {
    if (mode === "playing") return i === place && !shown;
    return mode === "covered" && i > 0 && !open.has(step);
  }

  function draw() {
    const playing = mode === "playing";
    for (const name of ["previous", "next", "result"]) button(name).hidden = !playing;
    for (const name of ["start", "cover"]) button(name).hidden = mode !== "all";
    button("all").hidden = mode === "all";
    bar.querySelector(".place").textContent = playing ? `${place + 1} / ${steps.length}` : "";
    steps.forEach((step, i) => {
      step.hidden = playing && i > place;
      const part = result(step);
      if (part) part.hidden = isHidden(step, i);
      if (revealers.has(step)) revealers.get(step).hidden = mode !== "covered" || open.has(step);
    });
    button("previous").disabled = playing && place === 0;
    button("next").disabled = playing && place === steps.length - 1 && shown;
    button("result").disabled = !playing || shown || !result(steps[place]);
  }

  function go(to, visible) {
    place = Math.min(Math.max(to, 0), steps.length - 1);
    shown = visible || !result(steps[place]);
    draw();
    steps[place].scrollIntoView({ block: "nearest" });
  }

  function next() {
    if (!shown) go(place, true);
    else if (place < steps.length - 1) go(place + 1, false);
  }

  function previous() {
    if (place > 0 && shown && result(steps[place])) go(place, false);
    else if (place > 0) go(place - 1, true);
  }

  const act = {
    start() { mode = "playing"; go(0, true); button("next").focus(); },
    cover() { mode = "covered"; open.clear(); draw(); },
    result() { go(place, true); },
    all() { mode = "all"; draw(); },
    next, previous,
  };
  bar.addEventListener("click", (event) => {
    const name = event.target.dataset.do;
    if (name) act[name]();
  });
  const keys = {
    ArrowRight: next, PageDown: next, " ": next, ArrowLeft: previous, PageUp: previous,
    Home: () => go(0, true), End: () => go(steps.length - 1, true), Escape: act.all,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (mode === "all" && event.key === "s") act.start();
    else if (mode === "covered" && event.key === "Escape") act.all();
    else if (mode === "playing" && keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  document.addEventListener("keyup", (event) => {
    // A focused button must not be pressed a second time by the space that moved on.
    if (mode === "playing" && event.key === " ") event.preventDefault();
  });
  draw();
})();
