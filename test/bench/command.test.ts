import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { memoryOf, msToLines, output, watchMemory } from "../../bench/command.ts";

const node = (script: string) => ["-e", script];

test.each([
  ["all it printed", "console.log('a'); console.log('b')", "a\nb\n"],
  ["nothing found: code 1", "process.exitCode = 1", ""],
])("returns the output: %s", async (_, script, want) => {
  expect(await output(process.execPath, node(script))).toBe(want);
});

test("rejects if the program fails", async () => {
  const failing = output(process.execPath, node("console.error('why'); process.exitCode = 2"));
  await expect(failing).rejects.toThrow(/2: why/);
});

test.each([
  ["until the lines are there", "console.log('1\\n2\\n3'); setTimeout(() => {}, 20_000)"],
  ["until the end, where there are fewer", "console.log('1')"],
  ["not until the end of endless output", "const f = () => process.stdout.write('1\\n', f); f()"],
])("measures the time of a program %s", async (_, script) => {
  const ms = await msToLines(process.execPath, node(script), { lines: 3 });
  expect(ms).toBeGreaterThan(1);
  expect(ms).toBeLessThan(15_000);
});

test.runIf(memoryOf(process.pid, "peak memory is the maximum that a process held"))(
  "peak memory is what a process held",
  async () => {
    const script = "const b = Buffer.alloc(200 << 20, 1); setTimeout(() => b.length, 200)";
    const child = spawn(process.execPath, node(script));
    const peak = watchMemory(child);
    await once(child, "exit");
    const { anonymousBytes, residentBytes } = peak();
    expect(anonymousBytes).toBeGreaterThan(200 << 20);
    expect(residentBytes).toBeGreaterThanOrEqual(anonymousBytes ?? NaN);
    expect(residentBytes).toBeLessThan(600 << 20);
  },
);
