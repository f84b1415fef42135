/** What quern promises about a damaged data file, by the place of the damage. */

import { PART } from "../../../src/store/format/format.ts";
import type { Damage, Outcome, Trial } from "./damage.ts";
import { QUESTIONS } from "./questions.ts";

type Place =
  | "cut"
  | "LMDB's pages"
  | "format, manifest"
  | "repository record"
  | "skipped files"
  | "revision set"
  | "versions"
  | "segment header"
  | "segment"
  | "retired segment";

export function placeOf({ value, isCut }: Damage): Place {
  if (isCut) return "cut";
  if (!value) return "LMDB's pages";
  if (value.isRetired) return "retired segment";
  switch (value.key[0]!) {
    case 0:
      return "format, manifest";
    case 1:
      return "repository record";
    case 2:
      return "skipped files";
    case 3:
      return "revision set";
    case 4:
      return "versions";
    default:
      return value.key[5] === PART.HEADER ? "segment header" : "segment";
  }
}

/**
 * The outcomes that are promised for each place. Versions are read only by index runs. LMDB's own pages have no
 * checksum, so nothing is promised there: see isUntold().
 */
const PROMISED: Record<Place, readonly Outcome[] | undefined> = {
  cut: ["refused"],
  "LMDB's pages": undefined,
  "format, manifest": ["refused"],
  "repository record": ["refused"],
  "skipped files": ["refused"],
  "revision set": ["refused"],
  versions: ["right"],
  "segment header": ["right"],
  segment: ["right", "partial", "refused"],
  "retired segment": ["right"],
};

const MAY_REFUSE = QUESTIONS.filter(({ mayRefuse }) => mayRefuse).map(({ name }) => name);

/** Returns the broken promise in words, or undefined. */
export function brokenPromise(
  damage: Damage,
  { outcome, check, refused }: Trial,
): string | undefined {
  const promised = PROMISED[placeOf(damage)];
  if (check === "hangs") return "check hangs";
  if (promised && !promised.includes(outcome)) return `outcome: ${outcome}`;
  const search = refused.find((name) => !MAY_REFUSE.includes(name));
  if (search !== undefined && placeOf(damage) === "segment") return `refused: ${search}`;
  const isChecked = damage.value && !damage.value.isRetired;
  return isChecked && check !== "damage" ? `check: ${check}` : undefined;
}

/**
 * Whether damage went unnoticed. LMDB's pages have no seal, so one hit in a hundred may lead to an older value of the
 * same key, or to none, without notice.
 */
export const isUntold = (damage: Damage, { outcome, check }: Trial): boolean =>
  placeOf(damage) === "LMDB's pages" && outcome !== "right" && check === "clean";
