// The runs of a folder, live: `derrl serve` is asked for their curves again and again.

const folder = JSON.parse(byId("data").textContent);
const known = new Map();

const address = (page, label) => `${page}?run=${encodeURIComponent(label)}`;

function liveRun(run) {
  const name = run.label || folder.title;
  const state = run.finished ? (run.solved === false ? `finished, ${Number.isFinite(run.scores?.train?.success_rate) ? `${percent(run.scores.train.success_rate)} succeed` : "not solved"}` : "finished") : `under way, ${plural(run.restarts, "restart")} so far`;
  const scores = Object.entries(run.scores || {}).sort(([a], [b]) => (b === "train") - (a === "train")).map(([task, score]) => `${task} ${number(score.mean, 3)}`).join(" · ");
  return el("section", { class: "card", "data-live": run.label, "aria-label": name }, el("h2", {}, name),
    el("p", { class: "sub" }, `${run.domain}, seed ${run.seed}: `, el("strong", { class: run.finished ? null : "under-way" }, state)),
    scores && el("p", { class: "sub" }, scores),
    run.chart ? chartNode(run.chart) : el("p", { class: "sub" }, "No curve yet."),
    run.finished && el("p", {}, el("a", { href: address("page", run.label) }, "See it act"), run.playable && [" · ", el("a", { href: address("playground", run.label) }, "Playground: change its rules")]));
}

async function refresh() {
  try {
    const answer = await fetch("runs.json");
    if (!answer.ok) {
      // It answers, and says why there is nothing to show.
      replace(byId("trouble"), el("p", { class: "note" }, `${(await answer.text()).trim()}. This page asks again.`));
      return;
    }
    const { runs } = await answer.json();
    const list = byId("live");
    replace(byId("trouble"), runs.length ? null : el("p", { class: "note" }, "There is no run in this folder yet: derrl train blocks --out ", folder.title, "/blocks"));
    const labels = new Set(runs.map((run) => run.label));
    for (const node of [...list.children]) if (!labels.has(node.dataset.live)) node.remove();
    runs.forEach((run, i) => {
      const text = JSON.stringify(run);
      if (known.get(run.label) === text) return;
      known.set(run.label, text);
      const old = [...list.children].find((node) => node.dataset.live === run.label);
      if (old) old.replaceWith(liveRun(run));
      else list.insertBefore(liveRun(run), list.children[i] || null);
    });
  } catch {
    replace(byId("trouble"), el("p", { class: "note" }, "derrl serve does not answer: it has ended, or is busy. This page asks again."));
  }
}

replace(byId("head"), el("div", {}, el("p", { class: "brand" }, "derrl serve"), el("h1", {}, folder.title), el("p", { class: "lead" }, "Runs in this folder. Those under way grow as you watch.")));
replace(byId("main"), el("div", { id: "trouble" }), el("div", { id: "live", class: "live" }));
byId("foot").textContent = "Served from this machine to this machine.";
refresh();
setInterval(refresh, 1500);
