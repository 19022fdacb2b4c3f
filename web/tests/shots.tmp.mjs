import { launch, open } from "./browser.js";
const [,, file, name, hash = "", full = ""] = process.argv;
for (const [kind, viewport, colorScheme] of [["desk", {width:1280,height:900}, "light"],["desk-dark", {width:1280,height:900}, "dark"],["phone", {width:390,height:844}, "light"]]) {
  const { context, close } = await launch({ viewport, colorScheme, reducedMotion: "reduce" });
  try { const { page } = await open(context, file, hash);
    await page.waitForTimeout(300);
    await page.screenshot({ path: `/tmp/seen/shots/${name}-${kind}.png`, fullPage: kind !== "desk-dark" });
  } finally { await close(); }
}
