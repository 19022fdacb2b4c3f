// `derrl serve` in a real browser: edit a rule, see the decision change; break the text, see the caret.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeAll, launch } from "./browser.js";
import { clean, folder, program, train } from "./runs.js";

let browser;
let server;
let address;

before(async () => {
  browser = await launch({ reducedMotion: "reduce" });
  const site = join(folder, "site");
  mkdirSync(site, { recursive: true });
  cpSync(train("blocks"), join(site, "mine"), { recursive: true });
  server = spawn(program(), ["serve", site], { stdio: ["ignore", "pipe", "ignore"] });
  address = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    server.once("error", reject);
  });
});

after(async () => {
  server.kill("SIGINT");
  await closeAll();
  clean();
});

async function visit(url) {
  const page = await browser.context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && !/422/.test(message.text()) && problems.push(message.text()));
  page.on("request", (request) => !request.url().startsWith(address) && !request.url().startsWith("data:") && problems.push(request.url()));
  await page.goto(url);
  return { page, problems };
}

test("a run under way grows, and a finished one leads to its page", async () => {
  const { page, problems } = await visit(address);
  await page.waitForSelector('[data-live="mine"] .chart');
  const training = spawn(program(), ["train", "gridworld", "--out", join(folder, "site/later"), "--episodes", "5"], { stdio: "ignore" });
  await page.waitForSelector('[data-live="later"]', { timeout: 60_000 });
  await page.waitForSelector('[data-live="later"][data-state="running"] .clock', { timeout: 60_000 });
  assert.equal(await page.locator("[data-live]").first().getAttribute("data-live"), "later", "runs under way come first");
  training.kill("SIGKILL");
  await new Promise((resolve) => training.once("exit", resolve));
  await page.waitForSelector('[data-live="later"][data-state="stopped"]', { timeout: 60_000 });
  assert.match(await page.locator('[data-live="later"]').textContent(), /derrl train --resume/);
  await page.click('[data-live="mine"] a:has-text("See it act")');
  await page.waitForSelector(".scene svg");
  assert.equal(await page.locator("h1").textContent(), "Blocks");
  assert.deepEqual(problems, []);
  await page.close();
});

test("the playground: an edit changes the decision, a mistake shows its place", async () => {
  const { page, problems } = await visit(`${address}playground?run=mine`);
  await page.waitForSelector("[data-action]");
  const first = await page.locator("[data-action]").getAttribute("data-action");
  const write = (text) => page.locator("#text").fill(text);
  await write("move(X, Y) :- goal_on(Y, X).\n");
  await page.waitForFunction((was) => document.querySelector("[data-action]")?.dataset.action !== was, first);
  await page.waitForSelector('[data-verdict="refuted"]');
  assert.match(await page.locator("[data-difference]").getAttribute("data-difference"), /different/);
  await write("move(X, Y) :- top(X), tpo(Y).\n");
  await page.waitForSelector(".problem");
  assert.equal(await page.locator(".problem").getAttribute("data-column"), "23");
  const [line, caret] = (await page.locator(".problem pre").textContent()).split("\n");
  assert.equal(caret.indexOf("^"), line.indexOf("tpo"), "the caret is under the mistake");
  await page.click(".problem button");
  assert.equal(await page.evaluate(() => document.getElementById("text").value.slice(...[document.getElementById("text").selectionStart, document.getElementById("text").selectionEnd])), "tpo(Y)");
  assert.ok(await page.locator("#acts.stale").count(), "what is shown is of the text before");
  await page.click("#reset");
  await page.waitForSelector('[data-difference="same"]');
  await page.waitForFunction((was) => document.querySelector("[data-action]")?.dataset.action === was, first);
  await page.click("#undo");
  assert.match(await page.locator("#text").inputValue(), /tpo/, "what was written is not lost");
  assert.deepEqual(problems, []);
  await page.close();
});

test("the playground: the same episode before and after, the verdict in a line, words that complete", async () => {
  const { page, problems } = await visit(`${address}playground?run=mine`);
  await page.waitForSelector("[data-success]");
  const described = () => page.locator(".scene svg").first().getAttribute("aria-label");
  const before = await described();
  assert.match(await page.locator("#verdict").textContent(), /^100% success, was 100%Proved/);
  await page.locator("#text").fill("move(X, Y) :- top(X), top(Y).\n");
  await page.waitForFunction(() => document.querySelector("#verdict [data-success]")?.dataset.success < 1);
  assert.match(await page.locator("#verdict").textContent(), /success, was 100%/);
  assert.equal(await described(), before, "an edit leads to no other episode");
  const { top } = await page.locator("#verdict").evaluate((node) => { window.scrollTo(0, 2000); return node.getBoundingClientRect(); });
  assert.ok(top >= 0 && top < 40, "the verdict stays in view");
  await page.locator("#text").fill("move(X, Y) :- goal");
  await page.locator("#text").press("End");
  await page.waitForSelector('[data-offer="goal_on"]');
  await page.keyboard.press("Tab");
  assert.equal(await page.locator("#text").inputValue(), "move(X, Y) :- goal_on(X, Y)");
  assert.equal(await page.locator("#text").getAttribute("autocapitalize"), "off");
  // A click on a button does not end what arrow keys do.
  await page.locator("#text").fill("move(X, Y) :- top(X), top(Y).\n");
  await page.waitForSelector('#verdict [data-success]');
  await page.waitForFunction(() => document.querySelector("#verdict [data-success]")?.dataset.success < 1);
  await page.click('[data-act="next"]');
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /^Step 3/.test(document.querySelector(".caption").textContent));
  assert.deepEqual(problems, []);
  await page.close();
});

test("a link carries rules", async () => {
  const { page, problems } = await visit(`${address}playground?run=mine#rules=${encodeURIComponent("move(X, Y) :- top(X), isFloor(Y).")}`);
  await page.waitForSelector('[data-verdict="refuted"]');
  assert.equal(await page.locator("#text").inputValue(), "move(X, Y) :- top(X), isFloor(Y).");
  const given = page.waitForEvent("download");
  await page.click("#save");
  assert.equal((await given).suggestedFilename(), "policy.pl");
  assert.deepEqual(problems, []);
  await page.close();
});

test("pointing at another action moves nothing", async () => {
  const { page } = await visit(`${address}page?run=mine`);
  await page.waitForSelector(".chip");
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await height();
  for (const chip of await page.locator(".chip").all()) {
    await chip.hover();
    assert.equal(await height(), before);
  }
  await page.close();
});

test("where there are no runs, examples are trained", async () => {
  const empty = join(folder, "nothing");
  mkdirSync(empty);
  const other = spawn(program(), ["serve"], { cwd: empty, stdio: ["ignore", "pipe", "ignore"] });
  const url = await new Promise((resolve, reject) => {
    other.stdout.once("data", (text) => resolve(String(text).trim()));
    other.once("error", reject);
  });
  const page = await browser.context.newPage();
  await page.goto(url);
  await page.waitForSelector('[data-live="blocks"][data-state="finished"]', { timeout: 60_000 });
  await page.close();
  other.kill("SIGINT");
  const code = await new Promise((resolve) => other.once("exit", resolve));
  assert.equal(code, 0);
});

test("a page of another origin can neither read nor ask", async () => {
  const page = await browser.context.newPage();
  await page.goto("data:text/html,<p>elsewhere</p>");
  const read = await page.evaluate(async (url) => {
    try {
      return await (await fetch(url)).text();
    } catch (error) {
      return `refused: ${error.name}`;
    }
  }, `${address}runs.json`);
  assert.match(read, /^refused/);
  await page.close();
});
