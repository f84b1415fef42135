const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 1536 to `1.5 KiB`. Three digits at most, because the cards are narrow. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${UNITS[unit]}`;
}
