/** Reads the dates of `before:` and `after:`. */

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
};
const UNIT_MONTHS: Readonly<Record<string, number>> = { month: 1, year: 12 };

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?)?$/i;
const AGO = /^(\d{1,6}) ?(second|minute|hour|day|week|month|year)s?(?: ago)?$/i;

/**
 * Returns the seconds since 1970 of a date, or undefined if the text is no date. A date is `2026-05-01`, which is
 * midnight in UTC, or has a time such as `2026-05-01T12:30+02:00`, or is relative to `now`, such as `3 weeks ago`,
 * `yesterday` or `now`. `now` is in milliseconds.
 */
export function secondsOf(text: string, now: number): number | undefined {
  const plain = text.trim();
  if (/^now$/i.test(plain)) return Math.floor(now / 1000);
  if (/^yesterday$/i.test(plain)) return Math.floor(now / 1000) - UNIT_SECONDS["day"]!;
  if (ISO.test(plain)) return isoSeconds(plain);
  const ago = AGO.exec(plain.replace(/[ ._-]+/g, " "));
  if (!ago) return undefined;
  const [count, unit] = [Number(ago[1]), ago[2]!.toLowerCase()];
  const seconds = UNIT_SECONDS[unit];
  if (seconds !== undefined) return Math.floor(now / 1000) - count * seconds;
  const date = new Date(now);
  date.setUTCMonth(date.getUTCMonth() - count * UNIT_MONTHS[unit]!);
  const result = Math.floor(date.getTime() / 1000);
  return Number.isFinite(result) ? result : undefined;
}

function isoSeconds(text: string): number | undefined {
  const [, year, month, day, hour = "00", minute = "00", second = "00", zone = "Z"] =
    ISO.exec(text)!;
  const offset = zone.toUpperCase() === "Z" ? "Z" : zone.replace(/^(...):?/, "$1:");
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  // a day such as 31 February would otherwise be moved to the next month
  const isDay = new Date(`${year}-${month}-${day}T00:00:00Z`).getUTCDate() === Number(day);
  return Number.isFinite(time) && isDay ? Math.floor(time / 1000) : undefined;
}
