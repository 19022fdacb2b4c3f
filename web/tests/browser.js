// A real Chromium with a fresh profile, and pages that report every error.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const running = new Set();

// Closes every browser that is still open: a test that fails must not leave one behind.
export const closeAll = () => Promise.all([...running].map((close) => close()));

export async function launch(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "derrl-page-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: FLAGS,
    headless: true,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  // Only what hangs takes this long; machines that test are often busy.
  context.setDefaultTimeout(60_000);
  const close = async () => {
    if (!running.delete(close)) return;
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  running.add(close);
  return { context, close };
}

// Opens a file. `problems` collects whatever the console, the page or the network complains about.
export async function open(context, file, hash = "") {
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`request: ${request.url()}`);
  });
  await page.goto(`${pathToFileURL(file)}${hash}`);
  return { page, problems };
}
