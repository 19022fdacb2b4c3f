// The page: which run, which task, which step; kept in the address, so that a link leads to what is shown.

const data = JSON.parse(byId("data").textContent);
let player = null;
let place = {};

function readPlace() {
  const query = new URLSearchParams(location.hash.slice(1));
  const step = Number(query.get("step"));
  return { run: query.get("run"), task: query.get("task"), episode: Number(query.get("episode")) || null, step: step > 0 ? step - 1 : null };
}

function writePlace() {
  const query = new URLSearchParams();
  if (data.runs.length > 1 && place.run !== undefined) query.set("run", place.run);
  if (place.task) {
    query.set("task", place.task);
    query.set("episode", place.episode);
    query.set("step", place.step + 1);
  }
  try {
    history.replaceState(null, "", `#${query}`);
  } catch {
    // A page in a sandbox has no history; it works without.
  }
}

const brandNode = () => el("p", { class: "brand" }, data.served ? el("a", { href: "./" }, "derrl serve") : "derrl", ` · ${data.title}`);

const sameDomain = (run) => data.runs.filter((other) => other.domain === run.domain);

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function headNode(run) {
  const domains = [...new Set(data.runs.map((r) => r.domain))];
  const peers = sameDomain(run);
  const counts = run.counts;
  const facts = [
    `seed ${run.seed}`,
    counts.episodes > 0 && `${grouped(counts.episodes)} episode${counts.episodes === 1 ? "" : "s"}`,
    Number.isFinite(counts.steps) && `${grouped(counts.steps)} steps`,
    counts.restarts > 0 && plural(counts.restarts, "restart"),
    Number.isFinite(counts.seconds) && `${number(counts.seconds, counts.seconds < 10 ? 2 : 0)} s of training`,
  ];
  const title = run.domain === run.world ? capital(run.world) : run.domain;
  const choose = (label, name, options, act) => el("label", {}, label, el("select", { "data-choose": name, onchange: (event) => act(event.target.value) }, options));
  return [
    el("div", {}, brandNode(), el("h1", {}, title),
      run.summary && el("p", { class: "lead" }, `${capital(run.summary)}.`),
      el("p", { class: "meta" }, facts.filter(Boolean).join(" · ")),
      data.served?.playable && el("p", {}, el("a", { href: `playground?run=${encodeURIComponent(data.served.label)}` }, "Playground: change its rules"))),
    el("div", { class: "choosers" },
      domains.length > 1 && choose("Domain", "domain", domains.map((d) => el("option", { selected: d === run.domain, value: d }, d)), (d) => open(data.runs.find((r) => r.domain === d))),
      peers.length > 1 && choose("Run", "run", peers.map((r) => el("option", { selected: r === run, value: r.label }, runName(r, peers))), (label) => open(peers.find((r) => r.label === label)))),
  ];
}

// All runs at one glance.
function openOverview() {
  if (player) player.stop();
  player = null;
  place = {};
  const domains = data.summaries.map((s) => s.domain);
  replace(byId("head"), el("div", {}, brandNode(), el("h1", {}, plural(data.runs.length, "run")),
    el("p", { class: "lead" }, `${domains.length > 1 ? `${domains.slice(0, -1).join(", ")} and ` : ""}${domains.at(-1)}. Choose one to see it act.`)));
  replace(byId("main"), data.notes.map(noteNode), el("div", { class: "overview" }, overviewNode((run) => { open(run); window.scrollTo(0, 0); })));
  writePlace();
}

// Opens what an address asks for: a run, or all of them where there are several and none is named.
function openPlace() {
  const wanted = readPlace();
  const run = data.runs.find((r) => r.label === wanted.run);
  if (run || data.runs.length === 1) open(run || data.runs[0], wanted);
  else openOverview();
}

// Shows a run, at the task that was shown before where it has that.
function open(unnamed, at = {}) {
  const run = named(unnamed);
  if (player) player.stop();
  place = { ...place, ...at, run: run.label };
  const where = { task: at.task || place.task, episode: at.episode || null, step: at.step ?? null };
  player = new Player(run, (now) => {
    place = { ...place, ...now };
    writePlace();
  }, [[scoresNode(run)], [curveNode(run)]]);
  replace(byId("head"), headNode(unnamed));
  replace(byId("main"), data.runs.length > 1 && el("p", { class: "back" }, el("button", { class: "link", type: "button", "data-overview": "", onclick: () => { openOverview(); window.scrollTo(0, 0); } }, "← All runs")),
    [...data.notes, ...run.notes].map(noteNode), failedNode(run), player.node,
    el("div", { class: "below" }, symbolsNode(unnamed, () => open(unnamed, place)), verifyNode(run), runsNode(sameDomain(unnamed), unnamed, data.summaries.find((s) => s.domain === run.domain), (other) => { open(other); window.scrollTo(0, 0); })));
  player.show(where.task, where.episode, where.step);
  writePlace();
}

listenForKeys(() => player);

window.addEventListener("hashchange", () => {
  if (!location.hash.includes("=")) return; // a link within the page
  openPlace();
});

byId("foot").textContent = data.served ? "Served from this machine to this machine." : `Written by derrl ${data.version}. This file is complete: it loads nothing from anywhere.`;
openPlace();
