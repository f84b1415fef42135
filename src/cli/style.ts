/** Colours text for terminals, and formats numbers for people. */

import type { Io, Output } from "./io.ts";

export type Paint = (text: string) => string;

export interface Style {
  readonly heading: Paint;
  readonly match: Paint;
  readonly line: Paint;
  readonly quiet: Paint;
  /**
   * Makes untrusted text safe to print on one line, so that the name of a file cannot forge another line. On a terminal,
   * replaces all control characters. Otherwise, replaces only newlines.
   */
  readonly foreign: Paint;
}

const RESET = "\x1b[0m";
const paint = (code: string) => (text: string) =>
  text === "" ? "" : `\x1b[${code}m${text}${RESET}`;
const same = (text: string): string => text;

const PLAIN = { heading: same, match: same, line: same, quiet: same };
const COLOURED = {
  heading: paint("1;35"),
  match: paint("1;31"),
  line: paint("32"),
  quiet: paint("2"),
};

export const COLOURS = ["auto", "always", "never"] as const;

/**
 * Returns the style for an output. If `when` is "auto", any non-empty value of NO_COLOR turns colours off
 * (no-color.org). If colours are on, the output is assumed to be a terminal.
 */
export function styleFor(
  output: Output,
  env: Io["env"],
  when: (typeof COLOURS)[number] = "auto",
): Style {
  const isMeant = output.isTTY && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const colours = when === "auto" ? isMeant : when === "always";
  const safe = output.isTTY || colours ? visible : same;
  const foreign = (text: string): string => safe(text).replaceAll("\n", "␊");
  return { ...(colours ? COLOURED : PLAIN), foreign };
}

/**
 * Replaces each control character with one visible character, so that columns stay the same. Otherwise, the content
 * of a file could move the cursor, rename the window, or reverse the order of the text. Tabs and newlines are kept.
 * The CR of a Windows line end is removed.
 */
export function visible(text: string): string {
  return text
    .replace(/\r(?=\n|$)/g, "")
    .replace(/\p{Cc}/gu, picture)
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function picture(control: string): string {
  if (control === "\t" || control === "\n") return control;
  const code = control.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "␡";
}

/** Formats a count with its noun, such as `1 match` or `12,345 matches`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/**
 * Formats a count, such as `12,345`. Does without toLocaleString(), because its first call in a process takes 30 ms.
 */
export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

/** Formats a number of bytes, such as `999 bytes` or `1.2 MB`. */
export function bytes(n: number): string {
  let unit = 0;
  for (; n >= 1000 && unit < UNITS.length - 1; unit++) n /= 1000;
  return `${unit > 0 && n < 10 ? n.toFixed(1) : Math.round(n)} ${UNITS[unit]}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toPrecision(2))} ms`;
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Aligns columns, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, n) => (widths[n] = Math.max(widths[n] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
