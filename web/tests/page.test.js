// The page in a real browser: `npm test` (see package.json). Every page must come up without a single complaint.
import assert from "node:assert/strict";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeAll, launch, open } from "./browser.js";
import { clean, derrl, folder, train, trace } from "./runs.js";

const DOMAINS = ["countdown", "blocks", "gridworld", "doorkey", "traffic"];
const MISSING = "SUMO is not installed";
let browser;

before(async () => {
  browser = await launch({ reducedMotion: "reduce" });
});

after(async () => {
  await closeAll();
  clean();
});

const dataOf = (file) => {
  const text = readFileSync(file, "utf8");
  return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text)[1]);
};

// What the page shows of the step it is at.
const shown = (page) => page.evaluate(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
  const fired = document.querySelector(".rule.fired");
  return {
    action: document.querySelector("[data-action]")?.dataset.action,
    rule: fired ? Number(fired.dataset.rule) : null,
    lit: document.querySelectorAll(".rule.fired").length,
    bindings: fired ? texts(".rule.fired .bindings > span") : [],
    because: fired ? texts(".rule.fired .because .fact") : [],
    facts: texts(".area-facts .fact").sort(),
    others: texts(".chip"),
    ties: texts(".tied .mono"),
    label: document.querySelector(".scene svg")?.getAttribute("aria-label"),
  };
});

for (const domain of DOMAINS) {
  test(`${domain}: every step of every episode shows what the trace says`, async (t) => {
    const run = train(domain);
    if (!run) return t.skip(MISSING);
    const file = join(run, "report.html");
    const { page, problems } = await open(browser.context, file);
    for (const task of dataOf(file).runs[0].tasks) {
      await page.click(`[data-task="${task.task}"]`);
      for (const episode of task.episodes.slice(0, 2)) {
        if (task.episodes.length > 1) await page.click(`[data-episode="${episode.number}"]`);
        await page.keyboard.press("Home"); // It opens where there is something to see.
        const { steps, end } = trace(run, task.task, episode.number);
        for (const step of steps.slice(0, 40)) {
          const now = await shown(page);
          assert.equal(now.action, step.action);
          assert.equal(now.rule, step.fired ? step.fired.rule - 1 : null);
          assert.equal(now.lit, step.fired ? 1 : 0);
          assert.deepEqual(now.bindings, step.fired ? step.fired.substitution.map(([v, o]) => `${v} = ${o}`) : []);
          assert.deepEqual(now.because, step.fired ? step.fired.body.map((atom) => atom.replace("\\+", "not")) : []);
          assert.deepEqual(now.facts, [...step.facts].sort());
          assert.deepEqual(now.others, step.others.slice(0, 64).map((o) => o.action));
          assert.deepEqual(now.ties, step.fired ? step.ties.filter((tie) => tie !== step.action) : []);
          assert.ok(now.label, "the picture has a description");
          await page.click('[data-act="next"]');
        }
        if (steps.length <= 40) {
          const now = await shown(page);
          assert.equal(now.lit, 0);
          assert.deepEqual(now.facts, [...end.facts].sort());
          assert.ok(await page.locator('[data-act="next"]').isDisabled());
          const said = await page.locator(".outcome").textContent();
          assert.ok(said.includes(`Return ${end.return.toFixed(2).replace("-", "−")}`), said);
        }
      }
    }
    assert.deepEqual(problems, []);
    await page.close();
  });

  test(`${domain}: why not opens, by mouse, keyboard and touch`, async (t) => {
    const run = train(domain);
    if (!run) return t.skip(MISSING);
    const { page, problems } = await open(browser.context, join(run, "report.html"), "#task=train&step=1");
    const [step] = trace(run, "train", dataOf(join(run, "report.html")).runs[0].tasks[0].episodes[0].number, 1).steps;
    for (const other of step.others.slice(0, 12)) {
      const chip = page.locator(`.chip[data-other="${other.action}"]`);
      await chip.hover();
      const why = page.locator("#why");
      assert.ok(await why.isVisible());
      assert.equal(await chip.getAttribute("aria-expanded"), "true");
      assert.ok((await why.textContent()).includes(other.action));
      const failed = await why.locator(".because .fact.fails").allTextContents();
      assert.deepEqual(failed.sort(), other.failed.map((atom) => atom.replace("\\+", "not").replace("\\=", "≠")).sort());
    }
    await page.mouse.move(1, 1);
    assert.ok(await page.locator("#why").isHidden(), "hovering is over");
    assert.ok(await page.locator(".why-first").isVisible(), "and a first answer has the room");
    const first = page.locator(".chip").first();
    await first.focus();
    assert.ok(await page.locator("#why").isVisible(), "focus shows it");
    await page.keyboard.press("Enter");
    await page.mouse.move(1, 1);
    assert.ok(await page.locator("#why").isVisible(), "pinned");
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("#why").isHidden(), "and let go");
    assert.deepEqual(problems, []);
    await page.close();
  });

  test(`${domain}: nothing is wider than a phone, and all can be tapped`, async (t) => {
    const run = train(domain);
    if (!run) return t.skip(MISSING);
    for (const [width, colorScheme] of [[390, "light"], [320, "dark"]]) {
      const phone = await launch({ viewport: { width, height: 800 }, colorScheme, hasTouch: true, isMobile: true });
      const { page, problems } = await open(phone.context, join(run, "report.html"));
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
      for (const task of await page.locator("[data-task]").all()) {
        await task.tap();
        assert.ok(await fits(), "no sideways scrolling");
        await page.locator(".chip").first().tap();
        assert.ok(await page.locator("#why").isVisible());
        assert.ok(await fits(), "nor with why-not open");
        await page.locator('[data-act="last"]').tap();
        assert.ok(await fits(), "nor at the end");
      }
      const sizes = await page.locator("button.control, .chip, .tab").evaluateAll((all) => all.map((b) => b.getBoundingClientRect()).map((r) => Math.min(r.height, r.width)));
      assert.ok(Math.min(...sizes) >= 30, `targets are large enough: ${Math.min(...sizes)}`);
      assert.deepEqual(problems, []);
      await phone.close();
    }
  });
}

test("pacman: symbols are shown, and take names", async () => {
  const { page, problems } = await open(browser.context, join(train("pacman"), "report.html"));
  assert.equal(await page.locator(".symbol").count(), 4);
  assert.ok((await page.locator(".symbol canvas").count()) > 8, "mean images and examples");
  const clause = () => page.locator(".rule .clause").first().textContent();
  assert.ok((await clause()).includes("to_s1_past_s3"), await clause());
  await page.fill('[data-symbol="s1"]', "goal");
  await page.press('[data-symbol="s1"]', "Enter");
  assert.ok((await clause()).includes("to_goal_past_s3"), await clause());
  await page.reload();
  assert.ok((await clause()).includes("to_goal_past_s3"), "names are kept");
  await page.fill('[data-symbol="s1"]', "Not a name");
  await page.press('[data-symbol="s1"]', "Enter");
  assert.ok((await clause()).includes("to_goal_past_s3"), "what is no name changes nothing");
  await page.fill('[data-symbol="s1"]', "");
  await page.press('[data-symbol="s1"]', "Enter");
  assert.ok((await clause()).includes("to_s1_past_s3"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("a pinned answer stays while the mouse moves, and whatever moves under it", async () => {
  const { page, problems } = await open(browser.context, join(train("gridworld"), "report.html"));
  await page.setViewportSize({ width: 1280, height: 420 });
  const why = page.locator("#why");
  for (const other of await page.locator(".chip").evaluateAll((all) => all.map((chip) => chip.dataset.other))) {
    const chip = page.locator(`.chip[data-other="${other}"]`);
    await chip.scrollIntoViewIfNeeded();
    const box = await chip.boundingBox();
    // Raw events, as a hand makes them: over other chips, a click that is not quite still, then away.
    await page.mouse.move(box.x - 60, box.y + 4, { steps: 4 });
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 6 });
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 1, box.y + box.height / 2);
    await page.mouse.up();
    assert.ok((await why.textContent()).startsWith(`Why not ${other}?`), "what was clicked");
    await page.mouse.wheel(0, 60);
    await page.mouse.move(box.x + 90, box.y + 2, { steps: 8 });
    await page.mouse.move(20, 20, { steps: 12 });
    assert.ok((await why.textContent()).startsWith(`Why not ${other}?`), "and not what the pointer passed");
    assert.equal(await page.locator('.chip[aria-expanded="true"]').count(), 1);
    assert.equal(await chip.getAttribute("aria-expanded"), "true");
  }
  assert.deepEqual(problems, []);
  await page.close();
});

test("a chart says the values under the pointer", async () => {
  const { page, problems } = await open(browser.context, join(train("blocks"), "report.html"));
  const chart = page.locator(".chart svg");
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 3 });
  assert.match(await page.locator(".tip").textContent(), /^[\d,]+: chosen restart [−\d.]+/);
  assert.ok(await page.locator(".tip").isVisible());
  await page.mouse.move(2, 2);
  assert.ok(await page.locator(".tip").isHidden());
  assert.doesNotMatch(await chart.textContent(), /-\d/, "one minus sign");
  assert.deepEqual(problems, []);
  await page.close();
});

test("the first episode shown has something to show", () => {
  for (const domain of ["countdown", "blocks", "gridworld", "doorkey"]) {
    for (const task of dataOf(join(train(domain), "report.html")).runs[0].tasks) {
      const fired = (episode) => new Set(episode.steps.map((step) => step.fired?.rule)).size;
      // The last may be one that ends otherwise than most.
      const [first, ...others] = task.episodes;
      const alike = others.filter((episode) => episode.end.success === first.end.success);
      assert.ok(alike.every((episode) => fired(first) >= fired(episode)), `${domain} ${task.task}`);
    }
  }
});

test("traffic opens where vehicles wait, and a link where it says", async (t) => {
  const run = train("traffic");
  if (!run) return t.skip(MISSING);
  const file = join(run, "report.html");
  const { opens } = dataOf(file).runs[0].tasks[0].episodes[0];
  assert.ok(opens > 0, "not on an empty network");
  const { page, problems } = await open(browser.context, file);
  const step = async () => Number(await page.locator(".scrub").inputValue());
  assert.equal(await step(), opens);
  const label = await page.locator(".scene svg").getAttribute("aria-label");
  assert.match(label, /[1-9]\d* (vehicles? )?wait/, label);
  await page.close();
  const linked = await open(browser.context, file, "#task=train&step=2");
  assert.equal(Number(await linked.page.locator(".scrub").inputValue()), 1);
  assert.deepEqual([...problems, ...linked.problems], []);
  await linked.page.close();
});

test("the keyboard plays", async () => {
  const { page, problems } = await open(browser.context, join(train("doorkey"), "report.html"));
  const step = async () => Number(await page.locator(".scrub").inputValue());
  const last = Number(await page.locator(".scrub").getAttribute("max"));
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), 1);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await step(), 1);
  await page.keyboard.press("End");
  assert.equal(await step(), last);
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), last, "the end is the end");
  await page.keyboard.press("Home");
  assert.equal(await step(), 0);
  await page.selectOption(".speed select", "4");
  await page.locator("body").click({ position: { x: 2, y: 2 } });
  await page.keyboard.press(" ");
  assert.equal(await page.locator('[data-act="play"]').getAttribute("aria-label"), "Pause");
  await page.waitForFunction((n) => Number(document.querySelector(".scrub").value) === n, last);
  assert.equal(await page.locator('[data-act="play"]').getAttribute("aria-label"), "Play", "it stops at the end");
  await page.keyboard.press(" ");
  await page.waitForFunction(() => Number(document.querySelector(".scrub").value) === 1);
  await page.keyboard.press(" ");
  const stopped = await step();
  await page.waitForTimeout(600);
  assert.equal(await step(), stopped, "it pauses");
  // The slider is a control of its own.
  await page.locator(".scrub").focus();
  await page.keyboard.press("Home");
  assert.equal(await step(), 0);
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), 1);
  assert.match(await page.locator(".caption").textContent(), /^Step 2 of/);
  // Space on a button presses the button, no more.
  await page.locator('[data-act="next"]').focus();
  await page.keyboard.press(" ");
  assert.equal(await step(), 2);
  assert.match(await page.locator("#say").textContent(), /^Step 3|^End/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("focus can be seen, reaches everything, and everything has a name", async () => {
  const { page } = await open(browser.context, join(train("blocks"), "report.html"));
  const controls = await page.evaluate(() => [...document.querySelectorAll("a[href], button, select, input, summary, .scroll, .why-room")]
    .filter((node) => node.checkVisibility()).map((node) => (node.matches(".why-room") ? node.cloneNode() : node).outerHTML));
  for (const wanted of controls) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const node = document.activeElement;
      const style = getComputedStyle(node);
      // What the room of an answer holds changes as one goes there.
      return { html: (node.matches(".why-room") ? node.cloneNode() : node).outerHTML, outline: `${style.outlineStyle} ${style.outlineWidth}`, why: node.matches(".chip") };
    });
    // A chip that has the focus is open, and says so.
    assert.equal(focus.why ? focus.html.replace('expanded="true"', 'expanded="false"') : focus.html, wanted, "in the order of the page");
    assert.equal(focus.outline, "solid 3px", focus.html);
  }
  for (const kind of ["skip", "tab", "control", "scrub", "chip"]) assert.ok(controls.some((html) => html.includes(`class="${kind}`)), kind);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, svg[role=img], section")]
    .filter((n) => !(n.getAttribute("aria-label") || n.textContent.trim() || n.labels?.length)).map((n) => n.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
  await page.close();
});

test("what is drawn anew keeps the focus", async () => {
  const { page, problems } = await open(browser.context, join(train("doorkey"), "report.html"));
  const focused = (attribute) => page.evaluate((name) => document.activeElement.getAttribute(name), attribute);
  await page.locator('[data-task="dynamic-keys-doors"]').focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused("data-task"), "dynamic-keys-doors");
  await page.locator('[data-episode="3"]').focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused("data-episode"), "3");
  const chip = page.locator(".chip").last();
  const other = await chip.getAttribute("data-other");
  await chip.focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await focused("data-other"), null, "stepping stays among the actions");
  await page.keyboard.press("ArrowLeft");
  assert.ok(await page.locator("#why").isVisible());
  await page.locator(`.chip[data-other="${other}"]`).focus();
  // At either end a button that can do no more keeps the focus.
  await page.locator('[data-act="last"]').focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.locator('[data-act="last"]').isDisabled());
  assert.equal(await focused("data-act"), "last");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Home");
  assert.ok(await page.locator('[data-act="first"]').isDisabled());
  assert.deepEqual(problems, []);
  await page.close();
});

test("light and dark differ, and text stands out in both", async () => {
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const grounds = { ink: ["page", "card", "sunk", "bad-soft", "accent-soft"], soft: ["page", "card", "sunk", "bad-soft", "accent-soft"], faint: ["page", "card", "sunk", "bad-soft", "accent-soft"], accent: ["page", "card", "sunk", "accent-soft"], good: ["good-soft", "card"], bad: ["bad-soft", "card"], unsure: ["unsure-soft", "card", "sunk"], card: ["accent", "ink"] };
  for (const v of ["v0", "v1", "v2", "v3", "v4", "v5"]) grounds[v] = ["card", "accent-soft", "good-soft", "bad-soft", "sunk"];
  const pairs = Object.entries(grounds).flatMap(([text, below]) => below.map((ground) => [text, ground]));
  const pages = [];
  for (const colorScheme of ["light", "dark"]) {
    const other = await launch({ colorScheme });
    const { page, problems } = await open(other.context, join(train("blocks"), "report.html"));
    const colours = await page.evaluate((names) => {
      const probe = document.body.appendChild(document.createElement("i"));
      return Object.fromEntries(names.map((name) => {
        probe.style.color = `var(--${name})`;
        return [name, getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number)];
      }));
    }, [...new Set(pairs.flat())]);
    for (const [text, ground] of pairs) {
      const ratio = contrast(colours[text], colours[ground]);
      assert.ok(ratio >= 4.5, `${colorScheme}: ${text} on ${ground} has a contrast of ${ratio.toFixed(2)}`);
    }
    pages.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    assert.deepEqual(problems, []);
    await other.close();
  }
  assert.notEqual(pages[0], pages[1]);
});

test("several seeds share a page, and a link leads to what it shows", async () => {
  const run = train("countdown", "--seeds", "3..5");
  const file = join(run, "report.html");
  const { page, problems } = await open(browser.context, file);
  // All runs first, which can be sorted.
  const order = () => page.locator(".overview [data-run]").allTextContents();
  assert.deepEqual((await order()).map((name) => name.slice(0, 6)), ["seed 3", "seed 4", "seed 5"]);
  await page.locator(".sort", { hasText: "Run" }).click();
  assert.deepEqual((await order()).map((name) => name.slice(0, 6)), ["seed 5", "seed 4", "seed 3"]);
  assert.match(await page.locator(".overview tfoot").textContent(), /best known/);
  assert.ok((await page.locator(".overview .chart polygon").count()) === 1, "a band over the seeds");
  await page.click('.overview [data-run="seed-3"]');
  assert.deepEqual(await page.locator('[data-choose="run"] option').allTextContents(), ["seed 3", "seed 4", "seed 5"]);
  await page.click('[data-task="dynamic-stack"]');
  await page.selectOption('[data-choose="run"]', { label: "seed 5" });
  assert.match(await page.locator("header .meta").textContent(), /seed 5/);
  assert.equal(await page.locator('[data-task][aria-pressed="true"]').textContent(), "dynamic-stack", "the task stays");
  await page.locator("[data-episode]").last().click();
  await page.keyboard.press("ArrowRight");
  const before = await shown(page);
  const again = await open(browser.context, file, new URL(page.url()).hash);
  assert.deepEqual(await shown(again.page), before);
  assert.match(await again.page.locator(".caption").textContent(), /^Step 2/);
  await again.page.click('.wide [data-run="seed-3"]');
  assert.match(await again.page.locator("header .meta").textContent(), /seed 3/);
  // A link to what is not there leads to what is.
  const lost = await open(browser.context, file, "#run=seed-99&task=nothing&episode=77&step=1000");
  assert.equal(await lost.page.locator(".overview [data-run]").count(), 3);
  const end = await open(browser.context, file, "#run=seed-3&task=nothing&episode=77&step=1000");
  assert.match(await end.page.locator("header .meta").textContent(), /seed 3/);
  assert.ok((await end.page.locator(".caption").textContent()).startsWith("End"));
  await end.page.locator(".skip").focus();
  await end.page.keyboard.press("Enter");
  assert.ok((await end.page.locator(".caption").textContent()).startsWith("End"), "skipping ahead loses no place");
  await end.page.click("[data-overview]");
  assert.equal(await end.page.locator(".overview [data-run]").count(), 3);
  await end.page.close();
  assert.deepEqual([...problems, ...again.problems, ...lost.problems], []);
  for (const p of [page, again.page, lost.page]) await p.close();
});

test("a folder of several domains shares a page", async () => {
  const all = join(folder, "reproduction");
  for (const domain of ["blocks", "countdown"]) cpSync(train(domain), join(all, domain, "seed-0"), { recursive: true });
  derrl(["report", all]);
  const { page, problems } = await open(browser.context, join(all, "report.html"));
  assert.equal(await page.locator(".overview section").count(), 2);
  await page.click('[data-run="blocks/seed-0"]');
  await page.selectOption('[data-choose="domain"]', "countdown");
  assert.equal(await page.locator("h1").textContent(), "Countdown");
  assert.ok((await page.locator(".scene svg").getAttribute("aria-label")).startsWith("Sum"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("what others wrote is shown, never run", async () => {
  const run = join(folder, "<b>odd & co <img src=x onerror=alert(1)>");
  cpSync(train("blocks"), run, { recursive: true });
  const evil = "<script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>{{data}}";
  derrl(["verify", run, "--max-objects", "4"], { fails: true });
  const kept = JSON.parse(readFileSync(join(run, "verify.json"), "utf8"));
  const size = { ...kept.sizes[0], title: evil, instances: "123456789012345678901234" };
  const step = { facts: [evil], action: evil, ties: 2, fewest: 1 };
  const counterexample = { instance: evil, background: [evil], kind: "loop", steps: Array(60).fill(step), back_to: 1, wrong_step: 2, why: { text: evil, substitution: [["X", evil]] }, instead: { action: evil }, is_shortest: true };
  const pictures = [{ width: 9, height: 9, label: evil, nodes: [["rect", { width: 9, height: 9, fill: "red", onclick: "window.hacked=1", style: "background:url(x)" }], ["script", {}, "window.hacked=1"], ["a", { href: "javascript:window.hacked=1" }], ["image", { href: "https://example.org/seen.png" }], ["text", {}, evil]] }];
  writeFileSync(join(run, "verify.json"), JSON.stringify({ ...kept, verdict: "refuted", summary: evil, remark: evil, sizes: [size], worst_case: { instance: evil, facts: [evil], actions: 2, fewest: 1 }, counterexample, pictures }));
  derrl(["report", run]);
  const { page, problems } = await open(browser.context, join(run, "report.html"));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.ok((await page.title()).includes("<b>odd & co <img src=x onerror=alert(1)>"));
  assert.ok((await page.locator(".verdict").textContent()).endsWith(`${evil.slice(evil.indexOf(":") + 1).trim()}.`));
  const section = page.locator('[aria-label="Verification"]');
  const text = await section.textContent();
  assert.ok(text.includes("123,456,789,012,345,678,901,234"));
  assert.ok(text.includes("20 more steps left out"));
  assert.equal(await section.locator("ol.run li").count(), 40);
  const drawn = section.locator(".scene svg");
  assert.equal(await drawn.count(), 1);
  assert.equal(await drawn.locator("rect").count(), 1, "the picture is drawn");
  assert.equal(await drawn.locator("script, a, [onclick], [style*=url], [href]").count(), 0);
  await drawn.click();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  // What is no verification, or one of another policy, is left out, and the page says so.
  for (const [content, note] of [["{}", /is not what derrl verify writes/], ["{", /is not what/], [JSON.stringify({ ...kept, policy: "other" }), /is about another policy/]]) {
    writeFileSync(join(run, "verify.json"), content);
    derrl(["report", run]);
    await page.reload();
    assert.match(await page.locator(".note").textContent(), note);
    assert.match(await section.textContent(), /Checked while this page was written/);
  }
  assert.deepEqual(problems, []);
  await page.close();
});

test("the verification is on the page: proofs, counterexamples, and why there is none", async (t) => {
  const run = join(folder, "verified");
  cpSync(train("blocks"), run, { recursive: true });
  const of = async () => {
    derrl(["report", run]);
    const { page, problems } = await open(browser.context, join(run, "report.html"));
    const section = page.locator('[aria-label="Verification"]');
    const said = { verdict: await section.locator(".verdict").textContent(), text: await section.textContent(), kind: await section.locator(".verdict").getAttribute("data-verdict"), pictures: await section.locator(".scene svg").count(), wrong: await section.locator("ol.run li.wrong").count() };
    assert.deepEqual(problems, []);
    await page.close();
    return said;
  };
  const learned = "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
  writeFileSync(join(run, "policy.pl"), learned);
  const quick = await of();
  assert.match(quick.verdict, /^ProvedIn all (\d{1,3}(,\d{3})*|\d\.\d\d × 10[⁰¹²³⁴⁵⁶⁷⁸⁹]+) instances of up to \d+ blocks/);
  assert.match(quick.text, /Checked while this page was written/);
  derrl(["verify", run, "--max-objects", "3"]);
  const kept = await of();
  assert.match(kept.verdict, /up to 3 blocks/);
  assert.match(kept.text, /Found by/);
  writeFileSync(join(run, "policy.pl"), "0.98::move(X, Y) :- top(X), on(X, Z).\n");
  assert.equal((await of()).kind, "proved-if-ties-are-random");
  assert.match((await of()).verdict, /^Proved if ties are random/);
  writeFileSync(join(run, "policy.pl"), "0.98::move(X, Y) :- top(X), isFloor(Y).\n");
  derrl(["verify", run, "--max-objects", "4"], { fails: true });
  const refuted = await of();
  assert.match(refuted.verdict, /^Refuted/);
  assert.match(refuted.text, /Shortest counterexample: a (loop|dead end) in /);
  assert.equal(refuted.wrong, 1);
  assert.ok(refuted.pictures >= 1, "each state is drawn as the player draws it");
  const traffic = train("traffic");
  if (!traffic) return t.skip(MISSING);
  const { page } = await open(browser.context, join(traffic, "report.html"));
  assert.match(await page.locator('[aria-label="Verification"]').textContent(), /Not verified: /);
  await page.close();
});

test("what was asked beside the goal is on the page, and what violates it is drawn", async () => {
  const run = join(folder, "asked");
  cpSync(train("blocks"), run, { recursive: true });
  writeFileSync(join(run, "policy.pl"), "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n");
  derrl(["verify", run, "--max-objects", "4", "--within", "9", "--served-within", "2"], { fails: true });
  derrl(["report", run]);
  const { page, problems } = await open(browser.context, join(run, "report.html"));
  const section = page.locator('[aria-label="Verification"]');
  assert.match(await section.locator('[data-property="holds"]').textContent(), /^HoldsThe goal within 9 actions, in all \d+ states/);
  assert.match(await section.locator('[data-property="violated"]').textContent(), /^ViolatedNot every object served within 2 actions, in 3 blocks/);
  assert.equal(await section.locator(".counterexample ol.run > li").count(), 3);
  assert.equal(await section.locator(".counterexample .scene svg").count(), 3, "each state is drawn");
  assert.match(await section.locator(".counterexample").textContent(), /No action names [a-z]\./);
  // Names are text.
  const evil = "<img src=x onerror='window.hacked=1'>";
  const kept = JSON.parse(readFileSync(join(run, "verify.json"), "utf8"));
  const found = { instance: evil, starved: evil, steps: [[[evil], evil], [[evil], null]] };
  writeFileSync(join(run, "verify.json"), JSON.stringify({ ...kept, properties: [{ property: evil, holds: false, states: 1, counterexample: found }] }));
  derrl(["report", run]);
  await page.reload();
  assert.ok((await section.locator(".counterexample").textContent()).includes(evil));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(problems, []);
  await page.close();
});

test("scores: longer bars are better, one episode has no error, and only goals have successes", async () => {
  const run = join(folder, "scored");
  cpSync(train("blocks"), run, { recursive: true });
  const result = JSON.parse(readFileSync(join(run, "result.json"), "utf8"));
  const score = (mean, success_rate, episodes = 20) => ({ mean, stderr: episodes > 1 ? 0.01 : 0, success_rate, best_known: null, episodes });
  const of = async (scores) => {
    writeFileSync(join(run, "result.json"), JSON.stringify({ ...result, scores }));
    derrl(["report", run]);
    const { page, problems } = await open(browser.context, join(run, "report.html"));
    const card = page.locator('[aria-label="Scores"]');
    const widths = await card.locator("rect.value").evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
    const text = await card.textContent();
    assert.deepEqual(problems, []);
    await page.close();
    return { widths, text };
  };
  for (const means of [[0.2, 0.9], [-0.9, -0.2], [-0.5, 0.5], [-2, 0]]) {
    const { widths } = await of({ train: score(means[0], 1), "unseen-goal": score(means[1], 1) });
    assert.ok(widths[0] < widths[1], `${means}: ${widths}`);
  }
  const goalless = await of({ train: score(-0.5, null, 1) });
  assert.doesNotMatch(goalless.text, /Success|%/);
  assert.match(goalless.text, /n = 1/);
  assert.doesNotMatch(goalless.text, /±/);
});

test("a policy that was changed, and one without rules", async () => {
  const run = join(folder, "changed");
  cpSync(train("blocks"), run, { recursive: true });
  for (const policy of ["move(X, Y) :- \\+ on(X, b), \\+ top(Y), goal_on(Y, floor).\n", "% nothing\n"]) {
    writeFileSync(join(run, "policy.pl"), policy);
    derrl(["report", run]);
    const { page, problems } = await open(browser.context, join(run, "report.html"));
    assert.match(await page.locator(".note").textContent(), /changed after training/);
    assert.match(await page.locator(".outcome").textContent(), /No rule fires/);
    assert.equal(await page.locator(".rule.fired").count(), 0);
    await page.locator(".chip").first().hover();
    assert.match(await page.locator("#why").textContent(), /chance chose/);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("traffic without SUMO has a page without episodes", async (t) => {
  const run = train("traffic");
  if (!run) return t.skip(MISSING);
  const file = join(folder, "no-sumo.html");
  derrl(["report", run, "--out", file], { hideSumo: true });
  const { page, problems } = await open(browser.context, file);
  assert.match(await page.locator(".note").textContent(), /SUMO was not found/);
  assert.equal(await page.locator(".rule").count(), dataOf(file).runs[0].rules.length);
  assert.ok(await page.locator('[aria-label="Scores"]').isVisible());
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(problems, []);
  await page.close();
});

test("pages stay small", () => {
  for (const domain of ["countdown", "blocks", "gridworld", "doorkey"]) {
    const { size } = statSync(join(train(domain), "report.html"));
    assert.ok(size < 1.5e6, `${domain}: ${size} bytes`);
  }
});

/** The first step of the first episode in which a rule fires and a number could turn the decision. */
const decided = (run) => {
  const at = run.tasks[0].episodes[0].steps.findIndex((step) => step.fired && step.leeway?.length);
  assert.notEqual(at, -1, "some decision depends on a number");
  return at;
};

test("numbers: a gauge for each, thresholds as lines, the plane of two coloured by decision", async () => {
  const { runs: [run] } = dataOf(join(train("cartpole"), "report.html"));
  const at = decided(run);
  const { page, problems } = await open(browser.context, join(train("cartpole"), "report.html"), `#task=${run.tasks[0].task}&step=${at + 1}`);
  // A threshold of one measure is a line on its gauge; that of a sum is not.
  const plain = run.rules.flatMap((rule) => rule.body).filter((atom) => /^\w+ [<>=]/.test(atom.name));
  const compared = new Set(plain.map((atom) => atom.name.split(" ")[0]));
  assert.deepEqual(await page.locator("[data-measure]").evaluateAll((nodes) => nodes.map((node) => node.dataset.measure)), ["position", "speed", "angle", "spin"]);
  for (const name of compared) assert.ok(await page.locator(`[data-measure="${name}"] line`).count(), `${name} has a threshold`);
  const fired = run.rules[run.tasks[0].episodes[0].steps[at].fired.rule].body.flatMap((atom) => atom.name.match(/position|speed|angle|spin/g));
  assert.deepEqual((await page.locator(".gauge.used").evaluateAll((nodes) => nodes.map((node) => node.dataset.measure))).sort(), [...new Set(fired)].sort());
  const colours = () => page.locator(".plane rect").evaluateAll((nodes) => new Set(nodes.map((node) => node.getAttribute("fill"))).size);
  if (compared.size > 1) assert.ok((await colours()) > 1, "two decisions, two colours");
  const before = await page.locator('[data-measure="angle"] circle').getAttribute("cx");
  await page.click('[data-act="next"]');
  assert.notEqual(await page.locator('[data-measure="angle"] circle').getAttribute("cx"), before, "the disc moves");
  assert.ok((await page.locator(".use").first().textContent()).includes("Fires in"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("how far a reading may be off is told and drawn, and what number would do", async () => {
  const file = join(train("cartpole"), "report.html");
  const { runs: [run] } = dataOf(file);
  const at = decided(run);
  const { page, problems } = await open(browser.context, file, `#task=${run.tasks[0].task}&step=${at + 1}`);
  const step = run.tasks[0].episodes[0].steps[at];
  assert.ok(step.leeway.length, "the decision depends on a number");
  for (const [name] of step.leeway) {
    assert.equal(await page.locator(`[data-measure="${name}"] .room`).count(), 1);
    assert.match(await page.locator(`[data-measure="${name}"]`).textContent(), /another decision if [\d.e−]+ (lower|higher)/);
  }
  await page.locator(".chip").first().click();
  assert.match(await page.locator("#why").textContent(), /What would have to change.*if \w+ were/);
  assert.match(await page.locator(".scene svg").first().getAttribute("aria-label"), /^The cart is .* the pole leans/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("what would have to change is a state that can be, and is drawn", async () => {
  for (const domain of ["blocks", "doorkey"]) {
    const file = join(train(domain), "report.html");
    const { runs: [run] } = dataOf(file);
    const steps = run.tasks[0].episodes[0].steps;
    const changes = steps.flatMap(({ at }) => run.situations[at].others.map((other) => [at, other])).filter(([, other]) => other.changes?.some((change) => change.picture !== undefined));
    assert.ok(changes.length, `${domain}: some action has a state in which it is chosen`);
    const [at, other] = changes[0];
    const { page, problems } = await open(browser.context, file, `#task=${run.tasks[0].task}&step=${steps.findIndex((step) => step.at === at) + 1}`);
    await page.locator(`.chip[data-other="${other.action}"]`).click();
    const still = page.locator("#why .still svg").first();
    assert.ok(await still.isVisible());
    assert.notEqual(await still.getAttribute("aria-label"), await page.locator(".scene svg").first().getAttribute("aria-label"), "another state");
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("rules, the picture and all data can be taken along", async () => {
  const { page, problems } = await open(browser.context, join(train("blocks"), "report.html"));
  const { runs: [run] } = dataOf(join(train("blocks"), "report.html"));
  const taken = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-take="${name}"]`)]);
    return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
  };
  const [rules, text] = await taken("rules");
  assert.match(rules, /\.pl$/);
  assert.deepEqual(text.trim().split("\n"), run.rules.map((rule) => rule.text));
  const [, svg] = await taken("svg");
  assert.ok(svg.startsWith("<svg") && !svg.includes("var(") && svg.includes("translate("), svg.slice(0, 300));
  assert.equal(await page.evaluate((source) => new DOMParser().parseFromString(source, "image/svg+xml").querySelector("parsererror"), svg), null);
  const [, data] = await taken("json");
  assert.deepEqual(JSON.parse(data).rules, run.rules);
  assert.deepEqual(problems, []);
  await page.close();
});

test("two runs side by side, with what only one of them says", async () => {
  const run = train("countdown", "--seeds", "3..5");
  const { page, problems } = await open(browser.context, join(run, "report.html"), "#run=seed-3");
  const { runs } = dataOf(join(run, "report.html"));
  const clauses = (i) => runs[i].rules.map((rule) => rule.text.replace(/^[\d.]+::/, ""));
  await page.selectOption('[data-choose="beside"]', { label: "seed 5" });
  const columns = page.locator("#beside .split > div");
  assert.equal(await columns.count(), 2);
  const own = clauses(0).filter((rule) => !clauses(2).includes(rule));
  assert.equal(await columns.first().locator(".own").count(), own.length);
  assert.equal(await columns.first().locator("li").count(), runs[0].rules.length);
  assert.deepEqual(problems, []);
  await page.close();
});
