/** Formats tables and figures for terminals and Markdown. */

export type Cell = string | number | undefined;

/** Formats a value with three significant digits, or "–" if it was not measured. */
export function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (value !== 0 && Math.abs(value) < 100) return String(Number(value.toPrecision(3)));
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, " ");
}

const text = (cell: Cell) => (typeof cell === "string" ? cell : figure(cell));

/** Aligns the first column to the left, and the others to the right. */
export function terminalTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows.map((row) => row.map(text))];
  const widths = head.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? "").length)));
  return lines
    .map((line) => line.map((cell, i) => pad(cell, widths[i] ?? 0, i === 0)).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

const pad = (cell: string, width: number, isLeft: boolean) =>
  isLeft ? cell.padEnd(width) : cell.padStart(width);

export function markdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const escaped = (cell: Cell) => text(cell).replaceAll("|", "\\|");
  const rule = head.map((_, i) => (i === 0 ? "---" : "--:"));
  return [line(head), line(rule), ...rows.map((row) => line(row.map(escaped)))].join("\n");
}
