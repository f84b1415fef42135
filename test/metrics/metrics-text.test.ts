import { expect, test } from "vitest";
import { Counter, Durations } from "../../src/metrics/counted.ts";
import { metricsText } from "../../src/metrics/metrics-text.ts";

test("metrics are written with their help, their type and a line for each sample", () => {
  const searches = new Counter({ call: "search" });
  searches.add({ call: "stream" }, 2);
  searches.add({ call: "stream" });
  const text = metricsText([
    { name: "a_total", help: "How many.", type: "counter", samples: searches.samples() },
    { name: "b", help: "None yet.", type: "gauge", samples: [] },
    { name: "c_bytes", help: "Large.", type: "gauge", samples: [{ value: 2 ** 53 }] },
  ]);
  expect(text).toBe(
    [
      "# HELP a_total How many.",
      "# TYPE a_total counter",
      'a_total{call="search"} 0',
      'a_total{call="stream"} 3',
      "# HELP b None yet.",
      "# TYPE b gauge",
      "# HELP c_bytes Large.",
      "# TYPE c_bytes gauge",
      "c_bytes 9007199254740992",
      "",
    ].join("\n"),
  );
});

test.each<[value: string, written: string]>([
  ["plain", "plain"],
  ['a "b"', String.raw`a \"b\"`],
  ["a\\b", String.raw`a\\b`],
  ["a\nb", String.raw`a\nb`],
  ["é {},=", "é {},="],
])("the label %j is written as %s", (value, written) => {
  const text = metricsText([
    { name: "a", help: "x\ny\\z", type: "gauge", samples: [{ labels: { l: value }, value: 1 }] },
  ]);
  expect(text).toBe(`# HELP a x\\ny\\\\z\n# TYPE a gauge\na{l="${written}"} 1\n`);
});

test.each([
  [0, "0"],
  [1.5, "1.5"],
  [1e21, "1e+21"],
  [Infinity, "+Inf"],
  [-Infinity, "-Inf"],
  [NaN, "NaN"],
])("the value %d is written as %s", (value, written) => {
  const text = metricsText([{ name: "a", help: "", type: "gauge", samples: [{ value }] }]);
  expect(text.endsWith(`a ${written}\n`)).toBe(true);
});

test("a duration counts in every bucket that it fits, including at the bound", () => {
  const durations = new Durations();
  for (const ms of [0, 1, 1.1, 10_000, 4_000_000]) durations.add(ms);
  const samples = durations.samples();
  const bucket = (le: string) => samples.find(({ labels }) => labels?.["le"] === le)?.value;
  expect(["0.001", "0.0025", "5", "10", "3600", "+Inf"].map(bucket)).toEqual([2, 3, 3, 4, 4, 5]);
  expect(samples.slice(-2)).toEqual([
    { suffix: "_sum", value: expect.closeTo(4010.0021, 6) as number },
    { suffix: "_count", value: 5 },
  ]);
});
