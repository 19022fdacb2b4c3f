// What axe finds about accessibility: nothing, on any page, light and dark, on a desk and on a phone.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { closeAll, launch } from "./browser.js";
import { clean, folder, program, train } from "./runs.js";

const here = dirname(fileURLToPath(import.meta.url));
const AXE = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");
const SCREENS = [
  { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { viewport: { width: 390, height: 844 }, colorScheme: "light" },
];
let server;
let address;

before(async () => {
  for (const domain of ["blocks", "cartpole", "doorkey"]) train(domain);
  train("countdown", "--seeds", "3..5");
  server = spawn(program(), ["serve", folder], { stdio: ["ignore", "pipe", "ignore"] });
  address = await new Promise((found, fail) => {
    server.stdout.once("data", (said) => found(String(said).trim()));
    server.once("error", fail);
  });
});

after(async () => {
  server?.kill("SIGINT");
  await closeAll();
  clean();
});

// What axe says about a page, after something was done on it.
async function found(context, url, act) {
  const page = await context.newPage();
  await page.goto(url);
  await act(page);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  await page.close();
  return violations.map(({ id, help, nodes }) => `${url}: ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

const report = (...args) => pathToFileURL(join(train(...args), "report.html")).href;
const nothing = async () => {};
const ask = (page) => page.locator(".chip").first().click();

for (const screen of SCREENS) {
  const name = `${screen.viewport.width} wide, ${screen.colorScheme}`;
  test(`pages of runs, ${name}`, async () => {
    const { context, close } = await launch({ ...screen, reducedMotion: "reduce" });
    const all = [];
    for (const domain of ["blocks", "cartpole", "doorkey"]) all.push(...(await found(context, report(domain), ask)));
    all.push(...(await found(context, report("countdown", "--seeds", "3..5"), nothing)));
    all.push(...(await found(context, `${report("countdown", "--seeds", "3..5")}#run=seed-3`, (page) => page.selectOption('[data-choose="beside"]', { index: 1 }))));
    assert.deepEqual(all, []);
    await close();
  });

  test(`served pages, ${name}`, async () => {
    const { context, close } = await launch({ ...screen, reducedMotion: "reduce" });
    const all = await found(context, address, async (page) => {
      for (const run of ["blocks", "doorkey"]) await page.locator(`[data-compare="${run}"]`).click();
    });
    all.push(...(await found(context, `${address}playground?run=blocks`, (page) => page.locator("[data-success]").waitFor())));
    assert.deepEqual(all, []);
    await close();
  });

  test(`the book, ${name}`, async () => {
    const site = join(folder, "site");
    const { status, stderr } = spawnSync("python3", [resolve(here, "../../docs/book.py"), site], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const { context, close } = await launch({ ...screen, reducedMotion: "reduce" });
    const all = [];
    for (const page of readdirSync(site).filter((file) => file.endsWith(".html"))) all.push(...(await found(context, pathToFileURL(join(site, page)).href, nothing)));
    assert.deepEqual(all, []);
    await close();
  });
}
