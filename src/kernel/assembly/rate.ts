/**
 * Counts and scores the files of a blob with matches. The score is that of src/search/thread/ranking/score.ts, and is
 * computed in the same order, so that both round alike.
 */

import * as J from "../job";
import { hasBit, nth, u } from "./plan";

/** Takes the rows, and may raise LEAST_SCORE. */
@external("env", "takeRows")
declare function takeRows(): void;

/** Writes what the rank of a file's repository adds, and the files of the repository, to the job. */
@external("env", "rankOf")
declare function rankOf(file: u32): void;

const EXACT: i32 = 3;
const TEST: u32 = 1;
const VENDORED: u32 = 2;
const GENERATED: u32 = 4;
/** The most that the place of the literal in a path adds to a score, with a reserve for rounding. */
const MOST_PATH: f64 = 901;

// the weights of score.ts

@inline
function edgeScore(edge: u32): i32 {
  return edge == 0 ? 0 : edge == 1 ? 150 : edge == 2 ? 300 : edge == 3 ? 450 : 900;
}
@inline
function definitionScore(fit: i32): i32 {
  return fit == 0 ? 0 : fit == 1 ? 1500 : fit == 2 ? 2600 : 4000;
}
@inline
function pathScore(fit: u32): i32 {
  return fit == 0 ? 0 : fit == 1 ? 60 : fit == 2 ? 250 : fit == 3 ? 450 : 900;
}
@inline
function penalty(flags: u32): i32 {
  return (flags & TEST ? -600 : 0) + (flags & VENDORED ? -1200 : 0) + (flags & GENERATED ? -900 : 0);
}

/** Counts the blob's files in scope. If there are matches, writes a row for each of these files that may be shown. */
export function rateFiles(job: usize, plan: usize, blob: u32, count: u32, edge: u32, definition: i32): void {
  const starts = u(plan, J.BLOB_FILE_STARTS);
  const end = nth(starts, blob + 1);
  for (let i = nth(starts, blob); i < end; i++) {
    const file = nth(u(plan, J.BLOB_FILES), i);
    if (!hasBit(u(plan, J.SCOPE), file)) continue;
    store<u32>(job, load<u32>(job, J.CONSIDERED) + 1, J.CONSIDERED);
    if (count == 0) continue;
    store<u32>(job, load<u32>(job, J.FILE_COUNT) + 1, J.FILE_COUNT);
    store<f64>(job, load<f64>(job, J.MATCHES) + <f64>count, J.MATCHES);
    if (load<u32>(job, J.IS_RANKED) != 0) rateFile(job, plan, file, count, edgeScore(edge), definition);
  }
}

function rateFile(job: usize, plan: usize, file: u32, count: u32, edge: i32, definition: i32): void {
  const flags = <u32>load<u8>(u(plan, J.FLAGS) + <usize>file);
  const language = load<i32>(job + J.LANGUAGES + (<usize>load<u16>(u(plan, J.FILE_LANGUAGES) + (<usize>file << 1)) << 2));
  const isCounted = (language & 1) != 0 && ((flags & TEST) == 0 || definition == EXACT);
  const fit = edge + (isCounted ? definitionScore(definition) : 0);
  if (file < load<u32>(job, J.RANK_FIRST) || file >= load<u32>(job, J.RANK_END)) rankOf(file);
  const matches = load<f64>(job + J.MATCH_SCORES + (<usize>min<u32>(count, J.MOST_COUNTED) << 3));
  const rest = <f64>(penalty(flags) + (language >> 1)) + load<f64>(job, J.RANK);
  const least = load<i32>(job, J.LEAST_SCORE);
  if (<f64>fit + matches + rest + MOST_PATH < <f64>least) return;
  const path = pathScore(pathFit(plan, file, job + J.FOLDED, u(job, J.LENGTH)));
  const score = <i32>Math.floor(<f64>(fit + path) + matches + rest + 0.5);
  if (score < least) return;
  const rows = load<u32>(job, J.ROW_COUNT);
  const row = u(job, J.ROWS) + <usize>rows * J.ROW_BYTES;
  store<i32>(row, score);
  store<u32>(row, file, 4);
  store<u32>(row, count, 8);
  store<u32>(job, rows + 1, J.ROW_COUNT);
  if (rows + 1 == J.MOST_ROWS) takeRows();
}

/** Returns how well the literal fits the path of a file; see pathFit() in score.ts. */
function pathFit(plan: usize, file: u32, text: usize, length: usize): u32 {
  const paths = u(plan, J.PATHS);
  const from = paths + <usize>nth(u(plan, J.PATH_STARTS), file);
  const to = paths + <usize>nth(u(plan, J.PATH_STARTS), file + 1);
  const anywhere = lastPlace(from, to, to, text, length);
  if (anywhere == 0) return 0;
  let base = to;
  while (base > from && load<u8>(base - 1) != 47) base--;
  let end = base + 1;
  while (end < to && load<u8>(end) != 46) end++;
  if (end > to) end = to;
  const at = lastPlace(from, to, max(base, end - length), text, length);
  if (at == 0 || at < base) return anywhere < base ? 1 : 2;
  const stop = at + length;
  if (at == base && (stop == end || stop == to)) return 4;
  return at == base || stop == end ? 3 : 2;
}

/** Returns the last place in [from, to) at or before `most` at which the folded text is, or 0. */
function lastPlace(from: usize, to: usize, most: usize, text: usize, length: usize): usize {
  if (to < from + length) return 0;
  const lead = load<u8>(text);
  for (let at = min(most, to - length); at >= from; at--) {
    if (lower(load<u8>(at)) != lead) continue;
    let i: usize = 1;
    while (i < length && lower(load<u8>(at + i)) == load<u8>(text + i)) i++;
    if (i == length) return at;
  }
  return 0;
}

@inline
function lower(byte: u32): u32 {
  return byte - 65 < 26 ? byte | 32 : byte;
}
