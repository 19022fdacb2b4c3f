// The pictures at the top of the README: `npm run images --prefix web/tests`.
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.js";
import { clean, derrl, folder } from "./runs.js";

const images = resolve(dirname(fileURLToPath(import.meta.url)), "../../docs/images");
mkdirSync(images, { recursive: true });
const run = join(folder, "blocks");
derrl(["train", "blocks", "--out", run]);
// The page as it is without haste: the one that training leaves may lack episodes on a busy machine.
derrl(["report", run]);
derrl(["explain", run, "--task", "dynamic-blocks", "--episode", "2", "--picture", join(images, "episode.gif")]);
const { context, close } = await launch({ viewport: { width: 1180, height: 880 }, reducedMotion: "reduce" });
try {
  const { page } = await open(context, join(run, "report.html"), "#task=dynamic-blocks&step=2");
  await page.locator("[data-other]").first().click();
  await page.screenshot({ path: join(images, "page.png") });
} finally {
  await close();
  clean();
}
