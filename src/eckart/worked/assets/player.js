// Shows one step after the other. "Next" first reveals the result of a step, then moves on; arrow keys do the same.
"use strict";
(() => {
  const steps = [...document.querySelectorAll(".step")];
  const bar = document.querySelector(".player");
  const button = (name) => bar.querySelector(`[data-do="${name}"]`);
  const result = (step) => step.querySelector(".result");
  let place = 0;
  let shown = false;
  let playing = false;

  function draw() {
    for (const name of ["previous", "next", "result", "all"]) button(name).hidden = !playing;
    button("start").hidden = playing;
    bar.querySelector(".place").textContent = playing ? `${place + 1} / ${steps.length}` : "";
    steps.forEach((step, i) => {
      step.hidden = playing && i > place;
      const part = result(step);
      if (part) part.hidden = playing && i === place && !shown;
    });
    button("result").disabled = !playing || shown || !result(steps[place]);
    if (playing) steps[place].scrollIntoView({ block: "nearest" });
  }

  function next() {
    if (!shown && result(steps[place])) shown = true;
    else if (place < steps.length - 1) { place += 1; shown = !result(steps[place]); }
    draw();
  }

  function previous() {
    if (shown && result(steps[place])) shown = false;
    else if (place > 0) { place -= 1; shown = true; }
    draw();
  }

  const act = {
    start() { playing = true; place = 0; shown = true; draw(); },
    next, previous,
    result() { shown = true; draw(); },
    all() { playing = false; draw(); },
  };
  bar.addEventListener("click", (event) => {
    const name = event.target.dataset.do;
    if (name) act[name]();
  });
  document.addEventListener("keydown", (event) => {
    if (!playing) return;
    if (event.key === "ArrowRight" || event.key === " ") { event.preventDefault(); next(); }
    if (event.key === "ArrowLeft") { event.preventDefault(); previous(); }
    if (event.key === "Escape") act.all();
  });
  draw();
})();
