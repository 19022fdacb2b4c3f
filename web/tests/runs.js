// Runs to look at: trained once, quickly, in a folder that goes away.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

export function program() {
  const found = [process.env.DERRL && resolve(process.env.DERRL), join(root, "target/release/derrl"), join(root, "target/debug/derrl")].find((path) => path && existsSync(path));
  if (!found) throw new Error("there is no derrl to test: run `cargo build` first, or name one in DERRL");
  return found;
}

// Runs derrl where SUMO is found, or where it is not. `fails`: the answer may be no (exit code 1).
export function derrl(args, { hideSumo = false, fails = false } = {}) {
  const env = hideSumo ? { PATH: "/nonexistent" } : process.env;
  const { status, stdout, stderr, error } = spawnSync(program(), args, { cwd: hideSumo ? tmpdir() : root, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
  if (error) throw error;
  if (status !== 0 && !(fails && status === 1)) throw Object.assign(new Error(`derrl ${args.join(" ")}: exit code ${status}\n${stderr}`), { stderr });
  return stdout;
}

export const folder = mkdtempSync(join(tmpdir(), "derrl-runs-"));
export const clean = () => rmSync(folder, { recursive: true, force: true });

// The gradient alone: its curves are drawn.
const GRADIENT = ["--set", "without=explore,draw,change,try", "--set", "doubling=false"];
const QUICK = [...GRADIENT, "--set", "updates=60", "--set", "restarts=2", "--episodes", "20"];
const QUICKEST = ["--shared", ...GRADIENT, "--set", "updates=2", "--set", "restarts=1", "--episodes", "1"];
// The gradient compares no numbers.
const SETTINGS = { traffic: QUICKEST, cartpole: ["--episodes", "20"] };

// The folder of a run of a domain, or null where its simulator is missing.
export function train(domain, ...more) {
  const out = join(folder, [domain, ...more].join("").replace(/\W+/g, "-"));
  if (existsSync(out)) return out;
  try {
    derrl(["train", domain, "--out", out, ...(SETTINGS[domain] ?? QUICK), ...more]);
  } catch (error) {
    if (domain === "traffic" && /SUMO was not found/.test(error.stderr)) return null;
    throw error;
  }
  return out;
}

// What the command line says about an episode.
export function trace(run, task, episode, steps = 150) {
  return JSON.parse(derrl(["explain", run, "--task", task, "--episode", String(episode), "--steps", String(steps), "--json"]));
}
