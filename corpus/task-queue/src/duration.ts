const UNITS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `1h30m` to milliseconds. Units may come in any order and more than once. */
export function parseDuration(text: string): number {
  const part = /(\d+(?:\.\d+)?)(ms|[smhd])/y;
  let total = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) throw new RangeError(`not a duration: ${text}`);
    total += Number(match[1]) * (UNITS[match[2] ?? ""] ?? Number.NaN);
  }
  return total;
}

export function formatDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of Object.entries(UNITS).reverse()) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
