// The playground: rules on the left, what they do on the right, at once.

const start = JSON.parse(byId("data").textContent);
let player = null;
let asked = 0;
let waiting = null;

const text = el("textarea", { id: "text", spellcheck: "false", autocomplete: "off", "aria-label": "Rules", "aria-describedby": "problem", rows: Math.max(5, start.policy.split("\n").length + 2) });
text.value = start.policy;
const problem = el("div", { id: "problem", role: "alert" });
const busy = el("span", { class: "sub", id: "busy", "aria-live": "polite" });
const shownAt = el("div", { id: "acts" });
const judged = el("div", { class: "below" });

async function attempt() {
  const mine = (asked += 1);
  busy.textContent = "Trying …";
  try {
    const answer = await fetch("try", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ run: start.run, policy: text.value }) });
    const told = answer.headers.get("Content-Type").startsWith("application/json") ? await answer.json() : { error: { message: await answer.text() } };
    if (mine !== asked) return;
    if (answer.status === 503) {
      waiting = setTimeout(attempt, 1000); // It is busy with an earlier text.
      return;
    }
    busy.textContent = told.error ? "" : "Tried.";
    show(told);
  } catch {
    if (mine === asked) busy.textContent = "derrl serve does not answer: it has ended, or is busy.";
  }
}

// An error where it is: the message, the line with a caret under the place, and the cursor there on request.
function problemNode(error) {
  if (!error.line) return noteNode(error.message);
  const line = text.value.split("\n")[error.line - 1] || "";
  const caret = " ".repeat(error.column - 1) + "^".repeat(Math.max(1, Math.min((error.end || 0) - (error.start || 0), line.length - error.column + 1)));
  const to = () => {
    const before = text.value.split("\n").slice(0, error.line - 1).reduce((sum, l) => sum + l.length + 1, 0) + error.column - 1;
    text.focus();
    text.setSelectionRange(before, before + caret.trim().length);
  };
  return el("div", { class: "problem", "data-line": error.line, "data-column": error.column },
    el("p", {}, el("strong", {}, `Line ${error.line}, column ${error.column}: `), withCode(error.message)),
    el("pre", {}, `${line}\n${caret}`), error.help && el("p", { class: "sub" }, withCode(error.help)),
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

function show(told) {
  replace(problem, told.error && problemNode(told.error));
  text.setAttribute("aria-invalid", Boolean(told.error));
  shownAt.classList.toggle("stale", Boolean(told.error));
  judged.classList.toggle("stale", Boolean(told.error));
  if (told.error) return;
  // The command explains the learned policy, not this one.
  for (const task of told.tasks) for (const episode of task.episodes) delete episode.command;
  const at = player ? { task: player.task?.task, frame: player.frame } : { frame: 0 };
  if (player) player.stop();
  player = new Player(told, () => {});
  replace(shownAt, told.notes.map(noteNode), player.node);
  player.show(at.task, null, Math.min(at.frame, told.tasks[0]?.episodes[0]?.steps.length ?? 0));
  replace(judged, scoresNode(told), differenceNode(told.difference), verifyNode(told));
}

text.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(attempt, 350);
});

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, button, a, summary") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (player?.key(event)) event.preventDefault();
});

const reset = el("button", { class: "tab", type: "button", id: "reset", onclick: () => { text.value = start.policy; attempt(); } }, "Back to the learned rules");
replace(byId("head"), el("div", {}, el("p", { class: "brand" }, el("a", { href: "./" }, "derrl serve"), ` · ${start.run}`), el("h1", {}, "Playground"), el("p", { class: "lead" }, `${start.domain}: ${start.summary}. Change the rules and see at once what they do. Nothing is saved.`)));
replace(byId("main"), el("section", { class: "card", "aria-label": "Rules" }, el("h2", {}, "Rules"), text, el("p", { class: "edit" }, reset, busy), problem), shownAt, judged);
byId("foot").textContent = "Served from this machine to this machine.";
attempt();
