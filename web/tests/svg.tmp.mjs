import { launch } from "./browser.js";
import { pathToFileURL } from "node:url";
const { context, close } = await launch({ viewport: {width:700,height:460}, colorScheme: process.argv[2] });
for (const f of process.argv.slice(3)) { const page = await context.newPage(); await page.goto(String(pathToFileURL(f))); await page.screenshot({ path: `/tmp/seen/shots/svg-${f.split("/").slice(-2).join("-")}-${process.argv[2]}.png` }); }
await close();
