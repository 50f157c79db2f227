// Runs the cases of the file that is named and prints a line of JSON: how many cases passed, and the names of the others.
import { startVitest } from "vitest/node";

const vitest = await startVitest("test", [], {
  globals: true, watch: false, include: [process.argv[2]], reporters: [{}], testTimeout: 60_000, hookTimeout: 60_000,
});
const failed = [];
let passed = 0;
for (const module of vitest.state.getTestModules()) {
  for (const error of module.errors()) failed.push({ name: module.moduleId, error: error.message });
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    if (state === "passed") passed++;
    else failed.push({ name: test.fullName, state, error: errors?.[0]?.message?.slice(0, 200) });
  }
}
await vitest.close();
console.log(JSON.stringify({ passed, failed }));
process.exitCode = 0;
