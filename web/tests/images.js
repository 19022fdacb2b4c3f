// The pictures of the README and of the book: `npm run images --prefix web/tests`. Each comes in a light and a dark form.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.js";
import { clean, derrl, folder, program } from "./runs.js";

const images = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/images");
mkdirSync(images, { recursive: true });
const THEMES = [["", "light", []], ["-dark", "dark", ["--dark"]]];
const image = (name, theme, end) => join(images, `${name}${theme}.${end}`);

const text = (name, content) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const TWO = text("two-rules.pl", "0.97::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.64::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n");
const BAD = text("bad.pl", "0.9::move(X, Y) :- top(X), top(Y), goal_on(Y, X).\n0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n");
const MISPLACED = text("misplaced.pl", [
  ":- derived(misplaced(block)).",
  "misplaced(X) :- on(X, Y), \\+ goal_on(X, Y).",
  "misplaced(X) :- on(X, Y), misplaced(Y).",
  "1.00::move(X, Y) :- goal_on(X, Y), \\+ misplaced(Y).",
  "0.90::move(X, Y) :- isFloor(Y), misplaced(X).\n",
].join("\n"));

// Runs, and pages as they are without haste: those that training leaves may lack episodes on a busy machine.
const trained = (domain, ...more) => {
  const run = join(folder, domain);
  derrl(["train", domain, "--out", run, ...more]);
  derrl(["report", run]);
  return run;
};
const harbour = join(folder, "harbour");
derrl(["new", harbour, "--like", "ferry"]);
const byHand = [join(harbour, "by-hand.pl"), "--domain", harbour, "--task", "train", "--episode", "7"];
const runs = Object.fromEntries(["blocks", "cartpole", "doorkey", "countdown", "gridworld", "pacman"].map((domain) => [domain, trained(domain)]));

for (const [theme, , dark] of THEMES) {
  const explain = (name, end, ...args) => derrl(["explain", ...args, "--picture", image(name, theme, end), ...dark]);
  explain("episode", "gif", TWO, "--domain", "blocks", "--task", "dynamic-blocks", "--episode", "2");
  explain("harbour", "svg", ...byHand, "--step", "2");
  for (const domain of ["countdown", "gridworld", "doorkey", "cartpole"]) explain(domain, "svg", runs[domain], ...(domain === "gridworld" ? ["--episode", "4"] : []), "--step", "2");
  explain("pacman", "svg", runs.pacman, "--step", "2");
  explain("rearrange", "svg", MISPLACED, "--domain", "rearrange", "--step", "2");
  try {
    explain("signals", "svg", "examples/traffic-lights/four-rules.pl", "--domain", "signals", "--sumocfg", "five", "--steps", "60", "--step", "60");
  } catch (error) {
    if (!/SUMO/.test(error.stderr)) throw error;
    console.error("SUMO was not found: the picture of traffic lights stays as it is");
  }
  derrl(["verify", BAD, "--domain", "blocks", "--max-objects", "3", "--picture", image("counterexample", theme, "svg"), ...dark], { fails: true });
}

// What only a browser shows: parts of pages.
const server = spawn(program(), ["serve", folder], { stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise((found, fail) => {
  server.stdout.once("data", (said) => found(String(said).trim()));
  server.once("error", fail);
});
try {
  for (const [theme, colorScheme] of THEMES) {
    const { context, close } = await launch({ viewport: { width: 1180, height: 880 }, reducedMotion: "reduce", colorScheme });
    const page = async (run, hash) => (await open(context, join(runs[run], "report.html"), hash)).page;
    const blocks = await page("blocks", "#task=dynamic-blocks&step=2");
    await blocks.locator("[data-other='move(b, floor)']").click();
    await blocks.screenshot({ path: image("page", theme, "png") });
    await blocks.locator(".area-others").screenshot({ path: image("whynot", theme, "png") });
    await blocks.locator(".rule.fired").screenshot({ path: image("rule", theme, "png") });
    await blocks.locator("section[aria-label='Training']").screenshot({ path: image("training", theme, "png") });
    await (await page("cartpole", "#step=20")).locator(".plane").screenshot({ path: image("plane", theme, "png") });
    const served = await context.newPage();
    await served.goto(`${address}playground?run=blocks`);
    await served.locator("[data-success]").waitFor();
    await served.screenshot({ path: image("playground", theme, "png") });
    await served.goto(address);
    await served.locator("[data-live='cartpole']").waitFor();
    await served.screenshot({ path: image("runs", theme, "png") });
    await close();
  }
} finally {
  server.kill();
  clean();
}
