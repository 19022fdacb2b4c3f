import { launch } from "./browser.js";
const [,, url, name] = process.argv;
for (const [kind, viewport, colorScheme] of [["desk", {width:1280,height:900}, "light"],["phone", {width:390,height:844}, "dark"]]) {
  const { context, close } = await launch({ viewport, colorScheme, reducedMotion: "reduce" });
  try { const page = await context.newPage(); await page.goto(url); await page.waitForTimeout(6000);
    await page.screenshot({ path: `/tmp/seen/shots/${name}-${kind}.png`, fullPage: true });
  } finally { await close(); }
}
