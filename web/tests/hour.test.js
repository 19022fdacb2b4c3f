// The page on which an hour of traffic can be watched: `npm test`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeAll, launch, open } from "./browser.js";
import { clean, derrl, folder } from "./runs.js";

const RULES = new URL("../../examples/traffic-lights/four-rules.pl", import.meta.url).pathname;
const file = join(folder, "hour.html");
let browser;
let problem = null;

before(async () => {
  try {
    derrl(["run", "signals", RULES, "--sumocfg", "five", "--page", file]);
  } catch (error) {
    if (!String(error.stderr || error).includes("SUMO was not found")) throw error;
    problem = "SUMO is not installed";
  }
  browser = await launch({ reducedMotion: "reduce", hasTouch: true });
});

after(async () => {
  await closeAll();
  clean();
});

const shown = (page) => page.evaluate(() => ({
  light: document.querySelector("[data-choose=light]").value,
  action: document.querySelector("[data-action]")?.dataset.action,
  fired: document.querySelectorAll(".rule.fired").length,
  why: [...document.querySelectorAll(".whynot dd")].map((node) => node.textContent),
  time: document.querySelector(".controls strong").textContent,
  phases: document.querySelectorAll(".phase").length,
}));

test("the hour says why a light decides as it does, and moves", async (t) => {
  if (problem) return t.skip(problem);
  const { page, problems } = await open(browser.context, file);
  const first = await shown(page);
  assert.ok(first.action && first.fired === 1 && first.phases >= 2, JSON.stringify(first));
  await page.selectOption("[data-choose=light]", "2");
  const chosen = await shown(page);
  assert.equal(chosen.light, "2");
  assert.ok(chosen.why.length >= 1, "why nothing else");
  for (let i = 0; i < 30; i += 1) await page.keyboard.press("ArrowRight");
  const later = await shown(page);
  assert.ok(later.time > chosen.time, `${later.time} after ${chosen.time}`);
  assert.equal(later.fired, 1);
  await page.click("[data-act=play]");
  await page.waitForFunction((time) => document.querySelector(".controls strong").textContent > time, later.time);
  await page.click("[data-act=play]");
  // A click near the middle chooses the light that was gone to.
  await page.click("[data-act=all]");
  await page.click(".map");
  // What is drawn is more than one colour.
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
    return seen.size;
  });
  assert.ok(colours > 5, `${colours} colours`);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the hour fits a phone", async (t) => {
  if (problem) return t.skip(problem);
  const { page, problems } = await open(browser.context, file, "#light=i1&second=200");
  await page.setViewportSize({ width: 360, height: 740 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, "nothing is wider than the screen");
  assert.equal((await shown(page)).time, "00:03:20");
  // The light comes right below the map.
  const tops = await page.evaluate(() => [".area-player", ".area-light", ".area-rules"].map((s) => document.querySelector(s).getBoundingClientRect().top));
  assert.ok(tops[0] < tops[1] && tops[1] < tops[2], tops.join());
  const box = await page.locator(".map").boundingBox();
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  assert.deepEqual(problems, []);
  await page.close();
});
