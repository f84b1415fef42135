/**
 * Draws plots as SVG without a library: dots on a logarithmic scale, and lines of growth. They suit light and dark
 * pages.
 */

const COLOURS = ["#3b7dd8", "#d9822b", "#4f9d69", "#a35fb8"];
const STYLE = `text{font:11px sans-serif;fill:#444}.grid{stroke:#8884;stroke-width:1}.title{font-size:13px}
@media (prefers-color-scheme:dark){text{fill:#ccc}}`;

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const label = (x: number, y: number, text: string, more = "") =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(text)}</text>`;

const line = (x1: number, y1: number, x2: number, y2: number) =>
  `<line class="grid" x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"/>`;

function svg(width: number, height: number, parts: readonly string[]): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n<style>${STYLE}</style>\n${parts.join("\n")}\n</svg>\n`;
}

function legend(names: readonly string[], x: number, y: number): string[] {
  return names.flatMap((name, i) => [
    `<circle cx="${x + i * 90}" cy="${y - 4}" r="4" fill="${colour(i)}"/>`,
    label(x + i * 90 + 8, y, name),
  ]);
}

const colour = (i: number) => COLOURS[i % COLOURS.length] ?? "#888";

export interface DotRow {
  readonly name: string;
  /** One value for each series; undefined if a series has none. */
  readonly values: readonly (number | undefined)[];
}

/** Draws a row of dots for each name, on a logarithmic scale. */
export function dotPlot(title: string, series: readonly string[], rows: readonly DotRow[]): string {
  const [left, top, plotWidth, step] = [230, 60, 560, 15];
  const values = rows.flatMap((row) => row.values.filter((value) => value !== undefined));
  const low = Math.floor(Math.log10(Math.max(1e-3, Math.min(1, ...values))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(1, ...values))));
  const x = (value: number) =>
    left + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * plotWidth;
  const bottom = top + rows.length * step;
  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const grid = decades.flatMap((value) => [
    line(x(value), top - 8, x(value), bottom),
    label(x(value), top - 12, `${value}`, 'text-anchor="middle"'),
  ]);
  const dots = rows.flatMap(({ name, values: row }, i) => {
    const y = top + i * step + 6;
    const circle = (value: number | undefined, k: number) =>
      value === undefined
        ? []
        : [`<circle cx="${x(value).toFixed(1)}" cy="${y}" r="4" fill="${colour(k)}"/>`];
    return [label(left - 12, y + 4, name, 'text-anchor="end"'), ...row.flatMap(circle)];
  });
  const head = [label(12, 20, title, 'class="title"'), ...legend(series, left, 20)];
  return svg(left + plotWidth + 30, bottom + 12, [...head, ...grid, ...dots]);
}

export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/** Draws panels next to each other. Their horizontal axis is the same list of names, evenly spaced. */
export function linePlots(names: readonly string[], panels: readonly Panel[]): string {
  const [panelWidth, height] = [230, 200];
  const parts = panels.flatMap((panel, i) => linePanel(names, panel, i * panelWidth));
  return svg(panels.length * panelWidth, height, parts);
}

function linePanel(names: readonly string[], panel: Panel, offset: number): string[] {
  const [left, right, top, bottom] = [offset + 40, offset + 215, 50, 165];
  const highest = Math.max(1e-9, ...panel.lines.flatMap(({ values }) => values)) * 1.1;
  const x = (i: number) => left + (i / Math.max(1, names.length - 1)) * (right - left);
  const y = (value: number) => bottom - (value / highest) * (bottom - top);
  const ticks = [0, 0.5, 1].map((part) => part * (highest / 1.1));
  const grid = ticks.flatMap((value) => [
    line(left, y(value), right, y(value)),
    label(left - 4, y(value) + 4, String(Number(value.toPrecision(2))), 'text-anchor="end"'),
  ]);
  const axis = names.map((name, i) => label(x(i), bottom + 16, name, 'text-anchor="middle"'));
  const lines = panel.lines.flatMap(({ values }, k) => {
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour(k)}" stroke-width="2"/>`;
  });
  const several = panel.lines.length > 1 ? panel.lines.map(({ name }) => name) : [];
  const title = label(offset + 12, 18, `${panel.title}, ${panel.unit}`, 'class="title"');
  return [title, ...legend(several, offset + 44, 36), ...grid, ...axis, ...lines];
}
