import { expect, test } from "vitest";
import { dotPlot, linePlots } from "../../bench/plot.ts";
import { figure, markdownTable } from "../../bench/table.ts";

test.each<[number | undefined, string]>([
  [undefined, "–"],
  [NaN, "–"],
  [0, "0"],
  [0.012345, "0.0123"],
  [1.5, "1.5"],
  [99.96, "100"],
  [1234.5, "1 235"],
  [1_706_550, "1 706 550"],
])("%d is formatted as %s", (value, want) => {
  expect(figure(value)).toBe(want);
});

test("a table of Markdown escapes the sign of its columns", () => {
  const [, , row] = markdownTable(["x", "n"], [["a|b", 1]]).split("\n");
  expect(row!.split(/(?<!\\)\|/)).toEqual(["", " a\\|b ", " 1 ", ""]);
});

const circles = (image: string) =>
  [...image.matchAll(/<circle cx="([\d.]+)" cy="\d+" r="4" fill="#\w+"\/>/g)].map(([, x]) =>
    Number(x),
  );

test("a dot is drawn for each value, and equal ratios have equal distances", () => {
  const rows = [
    { name: "<a>", values: [0.1, undefined] },
    { name: "b", values: [1, 10] },
  ];
  const image = dotPlot("t", ["one", "two"], rows);
  const [, , tenth, unit, ten] = circles(image);
  expect(circles(image)).toHaveLength(5); // two dots belong to the legend
  expect(ten! - unit!).toBeCloseTo(unit! - tenth!, 0);
  expect(image).toContain("&lt;a&gt;");
});

test("lines fit into their panel, even if all values are zero", () => {
  const panel = { title: "t", unit: "s", lines: [{ name: "", values: [0, 0, 0] }] };
  expect(linePlots(["1", "2", "4"], [panel])).not.toMatch(/NaN|Infinity/);
});
