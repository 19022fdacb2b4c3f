// The playground: rules beside what they do, at once, and the verdict always in view.

const start = JSON.parse(byId("data").textContent);
let player = null;
let asked = 0;
let waiting = null;
// What the learned rules achieve; told once.
let before = null;

// ---- The text, with its history.

const text = el("textarea", { id: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", autocorrect: "off", "aria-label": "Rules", "aria-describedby": "problem" });
const painted = el("pre", { class: "painted", "aria-hidden": "true" });
const history = { texts: [start.policy], at: 0 };

// A link may carry rules.
const fromLink = () => new URLSearchParams(location.hash.slice(1)).get("rules");
text.value = fromLink() ?? start.policy;
if (text.value !== start.policy) {
  history.texts.push(text.value);
  history.at = 1;
}

const KINDS = { action: "Actions", state: "Change", background: "Never change", derived: "Defined", number: "Numbers" };
const known = new Map(start.vocabulary.map((word) => [word.name, word]));

// The same text in colours: heads, variables, comments, and words that the world does not know.
function paint() {
  const defined = new Set([...text.value.matchAll(/^\s*:-\s*(?:derived|closure|distance)\(\s*([a-z]\w*)/gm)].map((m) => m[1]));
  const piece = (token) => {
    if (token.startsWith("%")) return el("span", { class: "faint" }, token);
    if (/^[A-Z_]/.test(token)) return el("span", { class: `var v${[...new Set(text.value.match(/\b[A-Z_]\w*/g))].indexOf(token) % 6}` }, token);
    if (/^[a-z]/.test(token) && known.get(token)?.kind === "action") return el("span", { class: "head" }, token);
    if (/^[a-z]/.test(token) && !known.has(token) && !defined.has(token) && !["most", "least", "derived", "closure", "distance"].includes(token)) return el("span", { class: "odd" }, token);
    return token;
  };
  replace(painted, text.value.split(/(%.*|\b[A-Za-z_]\w*)/).filter(Boolean).map(piece), "\n");
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight + 2}px`;
  undo.disabled = history.at === 0;
  redo.disabled = history.at + 1 >= history.texts.length;
  same.disabled = text.value === start.policy;
}

function remember() {
  if (history.texts[history.at] === text.value) return;
  history.texts.splice(history.at + 1, Infinity, text.value);
  history.at += 1;
}

function write(value) {
  text.value = value;
  paint();
  clearTimeout(waiting);
  attempt();
}

function step(by) {
  remember();
  const to = history.at + by;
  if (to < 0 || to >= history.texts.length) return;
  history.at = to;
  write(history.texts[to]);
}

// Puts a word where the cursor is, in place of what was begun there.
function put(word) {
  const end = text.selectionEnd;
  const begun = completing() ? text.value.slice(0, end).match(/[a-z]\w*$/)[0].length : 0;
  const args = word.arity ? `(${Array.from({ length: word.arity }, (_, i) => "XYZUVW"[i]).join(", ")})` : "";
  text.focus();
  text.setRangeText(word.name + args, end - begun, end, "end");
  text.dispatchEvent(new Event("input"));
}

const completing = () => document.activeElement === text && text.selectionStart === text.selectionEnd && /[a-z]\w*$/.test(text.value.slice(0, text.selectionEnd));

// Words that begin as the one at the cursor.
function offer() {
  const begun = completing() ? text.value.slice(0, text.selectionEnd).match(/[a-z]\w*$/)[0] : "";
  const words = begun ? start.vocabulary.filter((word) => word.name.startsWith(begun) && word.name !== begun).slice(0, 6) : [];
  replace(offers, words.map((word, i) => el("button", { class: "chip", type: "button", tabindex: -1, "data-offer": word.name, onpointerdown: (event) => { event.preventDefault(); put(word); } }, word.written, i === 0 && el("kbd", {}, "Tab"))));
}

const button = (id, label, act) => el("button", { class: "tab", type: "button", id, onclick: act }, label);
const undo = button("undo", "Undo", () => step(-1));
const redo = button("redo", "Redo", () => step(1));
const same = button("reset", "Learned rules", () => { remember(); text.value = start.policy; remember(); write(start.policy); });
const save = button("save", "Download", () => download("policy.pl", text.value, "text/plain"));
const link = button("link", "Copy link", async () => {
  const url = `${location.href.split("#")[0]}#rules=${encodeURIComponent(text.value)}`;
  window.history.replaceState(null, "", url);
  said(link, (await copied(url)) ? "Copied" : "In the address");
});

// ---- What comes of it.

const problem = el("div", { id: "problem", role: "alert" });
const busy = el("span", { class: "sub", id: "busy", "aria-live": "polite" });
const offers = el("div", { class: "chips offers", role: "group", "aria-label": "Words" });
const verdict = el("div", { id: "verdict", class: "verdict-bar", role: "status" }, "Trying …");
const left = el("div", { class: "slot", id: "acts" });
const right = el("div", { class: "slot", id: "rules" });
const judged = el("div", { class: "below" });

async function ask(policy, episode) {
  const answer = await fetch("try", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ run: start.run, policy, episode }) });
  const told = answer.headers.get("Content-Type").startsWith("application/json") ? await answer.json() : { error: { message: await answer.text() } };
  return { status: answer.status, told };
}

async function attempt() {
  const mine = (asked += 1);
  busy.textContent = "Trying …";
  try {
    const episode = player?.episode?.number;
    if (!before) {
      const { status, told } = await ask(start.policy, episode);
      if (status === 200) before = told;
    }
    const { status, told } = text.value === start.policy && before && !player ? { status: 200, told: before } : await ask(text.value, player?.episode?.number ?? before?.tasks[0]?.episodes[0]?.number);
    if (mine !== asked) return;
    if (status === 503) {
      waiting = setTimeout(attempt, 1000); // It is busy with an earlier text.
      return;
    }
    busy.textContent = "";
    show(told);
  } catch (error) {
    if (mine === asked) busy.textContent = error instanceof TypeError ? "derrl serve does not answer: it has ended, or is busy." : String(error);
  }
}

// An error where it is: the message, what can be seen of the line with a caret under the place, and the cursor there on request.
function problemNode(error) {
  if (!error.line) return noteNode(error.message);
  const whole = text.value.split("\n")[error.line - 1] || "";
  const length = Math.max(1, Math.min((error.end || 0) - (error.start || 0), whole.length - error.column + 1));
  const room = Math.max(24, Math.floor((problem.clientWidth - 40) / 8.6));
  const from = whole.length > room ? Math.max(0, Math.min(error.column - 1 - Math.floor(room / 3), whole.length - room)) : 0;
  const cut = `${from ? "…" : ""}${whole.slice(from, from + room)}${from + room < whole.length ? "…" : ""}`;
  const caret = " ".repeat(error.column - 1 - from + (from ? 1 : 0)) + "^".repeat(Math.min(length, room));
  const to = () => {
    const at = text.value.split("\n").slice(0, error.line - 1).reduce((sum, l) => sum + l.length + 1, 0) + error.column - 1;
    text.focus();
    text.setSelectionRange(at, at + length);
  };
  return el("div", { class: "problem", "data-line": error.line, "data-column": error.column },
    el("p", {}, el("strong", {}, `Line ${error.line}, column ${error.column}: `), withCode(error.message)),
    el("pre", {}, `${cut}\n${caret}`), error.help && el("p", { class: "sub" }, withCode(error.help)),
    el("button", { class: "tab", type: "button", onclick: to }, "Go there"));
}

function differenceNode(difference) {
  const card = (...children) => el("section", { class: "card", "aria-label": "Beside the learned policy", "data-difference": difference.state }, el("h2", {}, "Beside the learned policy"), children);
  if (difference.state === "never") return card(el("p", { class: "sub" }, "Not compared: there are too many states."));
  if (difference.state === "same") return card(el("p", {}, `The same decision in all ${grouped(difference.states)} states of small instances.`));
  const { found } = difference;
  const side = (title, one) => el("div", {}, el("h3", {}, title), el("p", { class: "mono" }, one.fires ? one.actions.join(", ") : "any action: no rule fires"), one.rules.map((rule) => el("p", { class: "sub mono" }, rule.text)));
  return card(el("p", {}, "It decides otherwise, first in ", found.instance, ":"), el("p", { class: "because" }, found.facts.slice(0, 40).map((fact) => el("span", { class: "fact" }, fact))),
    el("div", { class: "split" }, side("Learned", found.first), side("Yours", found.second)));
}

// In a line: how many succeed, how many did, and what is proved.
function verdictLine(told) {
  const now = share(told);
  const was = before && share(before);
  const mean = (run) => run?.scores[0]?.score.mean;
  const found = told.verification;
  const proof = found.state === "never" ? null : el("span", { class: `verdict ${VERDICTS[found.verdict].class}` }, el("span", { class: "badge" }, VERDICTS[found.verdict].words), found.verdict === "refuted" ? ` at ${failingSize(found)}` : ` up to ${found.sizes.at(-1).title}`);
  const success = now === undefined ? ["Return ", el("strong", {}, number(mean(told), 3))] : [el("strong", {}, percent(now)), " success"];
  const old = now === undefined ? number(mean(before), 3) : was !== undefined && was !== null && percent(was);
  return [el("span", { "data-success": now }, success, old && `, was ${old}`), proof];
}

const failingSize = (found) => (found.sizes.find((size) => failing(size) > 0) || found.sizes.at(-1)).title;

function show(told) {
  replace(problem, told.error && problemNode(told.error));
  text.setAttribute("aria-invalid", Boolean(told.error));
  for (const node of [left, right, judged]) node.classList.toggle("stale", Boolean(told.error));
  if (told.error) {
    replace(verdict, el("span", { class: "verdict bad" }, el("span", { class: "badge" }, "Not readable"), told.error.line ? `line ${told.error.line}` : told.error.message.slice(0, 60)));
    return;
  }
  replace(verdict, verdictLine(told));
  // The command explains the learned policy, not this one.
  for (const task of told.tasks) for (const episode of task.episodes) delete episode.command;
  const at = player ? { task: player.task?.task, number: player.episode?.number, frame: player.frame } : { frame: 0 };
  if (player) player.stop();
  player = new Player(told, () => {});
  replace(left, told.notes.map(noteNode), player.columns[0]);
  replace(right, player.columns[1]);
  player.show(at.task, at.number, Math.min(at.frame, told.tasks[0]?.episodes[0]?.steps.length ?? 0));
  replace(judged, scoresNode(told), differenceNode(told.difference), verifyNode(told));
}

text.addEventListener("input", () => {
  paint();
  offer();
  clearTimeout(waiting);
  waiting = setTimeout(() => { remember(); paint(); attempt(); }, 350);
});
text.addEventListener("keyup", offer);
text.addEventListener("blur", () => setTimeout(() => replace(offers), 150));
text.addEventListener("keydown", (event) => {
  const first = offers.querySelector("[data-offer]");
  if (event.key === "Tab" && !event.shiftKey && first && completing()) {
    event.preventDefault();
    put(known.get(first.dataset.offer));
  } else if (event.key === "Escape") replace(offers);
});
text.addEventListener("scroll", () => { painted.scrollTop = text.scrollTop; });
listenForKeys(() => player);

const words = Object.entries(KINDS).map(([kind, title]) => {
  const of = start.vocabulary.filter((word) => word.kind === kind);
  return of.length > 0 && el("div", {}, el("h3", {}, title), el("div", { class: "chips" }, of.map((word) => el("button", { class: "chip", type: "button", "data-word": word.name, onclick: () => put(word) }, word.written))));
});

replace(byId("head"), el("div", {}, el("p", { class: "brand" }, el("a", { href: "./" }, "derrl serve"), ` · ${start.run}`), el("h1", {}, "Playground"), el("p", { class: "lead" }, `${start.domain}: ${start.summary}. Change the rules and see at once what they do. Nothing is saved.`)));
replace(byId("main"), verdict, el("div", { class: "stage playground" },
  el("div", { class: "column" },
    el("section", { class: "card area-editor", "aria-label": "Rules" }, el("h2", {}, "Rules"), el("div", { class: "editor" }, painted, text), offers,
      el("p", { class: "edit" }, undo, redo, same, save, link, busy), problem,
      el("details", { class: "words" }, el("summary", {}, "Words that rules may use"), words)),
    right),
  el("div", { class: "column" }, left)), judged);
byId("foot").textContent = "Served from this machine to this machine.";
paint();
addEventListener("resize", paint);
attempt();
