/**
 * Runs a table-driven automaton over texts. The run stops once all matches are found, or once it needs a state that is
 * not built yet. In the second case, the caller builds the state and continues the run.
 *
 * The state of a run is a block of u32 words. The constants below are the offsets of its fields. Bytes that the
 * automaton need not distinguish form a class. The edge of the text counts as one more class, with the highest number.
 *
 * There are three tables, with a row for each state. `forward` and `backward` have one column per class. An entry is
 * UNKNOWN, DEAD, or the number of the next state. If the bit MATCHED is set in this number, a match ends before the
 * byte just read. In `backward`, the bit says that a match begins after that byte.
 *
 * `pairs` has one column per pair of classes, so one look-up reads two bytes. The run itself adds entries to this
 * table, for pairs of steps in which no match ends. All other entries stay UNKNOWN, and their bytes are read one by
 * one. The entries of `pairs` are row offsets instead of state numbers, so that a look-up takes only one dependent
 * load. Only states below `pairStates` have a row.
 *
 * The needle is a literal that every match contains near its beginning. As long as no match has begun, the automaton is
 * in its start state. In this state, the loop skips to the first position at which a match with the next occurrence of
 * the needle can begin. If this occurrence is not in a match, or is beyond the end of the text, the result is still
 * correct.
 *
 * The forward automaton looks for a match that begins anywhere. It reaches DEAD only after a match. The last match end
 * that it finds before DEAD is the end of the leftmost-first match. The backward automaton then runs backwards from
 * this end. The leftmost position at which it finds the beginning of a match is the start of the match.
 */

import { equals, hitsAt } from "./scan";

const UNKNOWN: u32 = 0xffffffff;
const DEAD: u32 = 0xfffffffe;
const MATCHED: u32 = 0x80000000;

// the fields of a run, as byte offsets; src/regex/run.ts names those that the caller uses
const AT: usize = 0; // address of the next byte
const FROM: usize = 4; // the start of the text
const TO: usize = 8; // the end of the text
const FLOOR: usize = 12; // no match begins before this address, which is the end of the previous match
const STATE: usize = 16; // the number of the state, or UNKNOWN to start again
const LAST: usize = 20; // the end of the best match so far; 0 if none
const FUEL: usize = 24; // the number of bytes that may be read before a PAUSE
const PHASE: usize = 28; // 0 forwards, 1 backwards
const MODE: usize = 32;
const COUNT: usize = 36; // the number of matches counted, or of pairs in `out`
const MISSING: usize = 40; // after NEED_STEP, the class without an entry; after NEED_START, the kind of the byte
const BACK_AT: usize = 44;
const BACK_STATE: usize = 48;
const BEST: usize = 52; // the start of the match; 0 if not seen yet
const OUT: usize = 56;
const OUT_PAIRS: usize = 60;
const CLASSES: usize = 64; // u8[256] classes, u8[256] kinds, u32[256] columns of a pair's first byte, then second
const CLASS_COUNT: usize = 68;
const FORWARD: usize = 72;
const BACKWARD: usize = 76;
const PAIRS: usize = 80;
const PAIR_STATES: usize = 84;
const EDGE_KIND: usize = 88;
const STARTS: usize = 96; // u32[4]: the start states by the kind (src/regex/byte-classes.ts) of the previous byte
const BACK_STARTS: usize = 112; // u32[4]: the backward start states by the kind of the next byte

const STRETCH: usize = 128; // the address of the next text's pair (start, end)
const STRETCH_END: usize = 132; // the end of these pairs
const OVERRUN: usize = 136; // the number of bytes that were read beyond the ends of matches, and so are read again

// a needle that every match contains after at most LEAD bytes, in the format of scan.ts; 0 if there is none
const NEEDLE: usize = 140;
const MASKS: usize = 144;
const LENGTH: usize = 148;
const NEEDLE_FIRST: usize = 152;
const NEEDLE_SECOND: usize = 156;
const LEAD: usize = 160;

const KINDS: usize = 256;
const FIRST: usize = 512;
const SECOND: usize = 1536;

// modes
const COUNTING: u32 = 0;
const SINGLE: u32 = 2; // the mode 1 finds all ranges

// answers
const GO_ON: u32 = 0; // the phase is over; used only within this file
const DONE: u32 = 1;
const NEED_STEP: u32 = 2;
const NEED_START: u32 = 3;
const PAUSE: u32 = 4;
const FULL: u32 = 5;
const FOUND: u32 = 6;

const NO_ROW: u32 = 0xffffffff;

/**
 * The number of bytes that are read one by one once a pair is not in the table. For 1, 2, 4, 8 and 16 such bytes, the
 * speeds on 16 MB of C are 172, 1159, 1157, 1150 and 1156 MB/s with [a-z]{3}_[A-Z]{4}. They are 107, 185, 204, 217 and
 * 219 MB/s with [a-z]+, which has a match every eight bytes. With 1, no pair ever enters the table.
 */
const SINGLE_STEPS: u32 = 8;

/**
 * Continues the run at `c`, and returns why it stopped:
 *
 *     DONE         all texts were searched
 *     NEED_STEP    the automaton of this phase has no entry for the class in `MISSING`
 *     NEED_START   the automaton of this phase has no start state for the kind in `MISSING`
 *     PAUSE        the fuel is used up
 *     FULL         `out` is full
 *     FOUND        a match was found, in the mode SINGLE
 *
 * REQUIRES: in modes other than SINGLE, the expression does not match the empty text.
 */
export function runAutomaton(c: usize): u32 {
  const mode = load<u32>(c, MODE);
  while (true) {
    if (load<u32>(c, PHASE) == 0) {
      const answer = forward(c);
      if (answer == DONE && nextStretch(c)) continue;
      if (answer != GO_ON) return answer;
      if (mode == COUNTING) {
        store<u32>(c, load<u32>(c, COUNT) + 1, COUNT);
        restart(c);
        continue;
      }
      store<u32>(c, load<u32>(c, LAST), BACK_AT);
      store<u32>(c, UNKNOWN, BACK_STATE);
      store<u32>(c, 0, BEST);
      store<u32>(c, 1, PHASE);
    }
    const answer = backward(c);
    if (answer != GO_ON) return answer;
    store<u32>(c, 0, PHASE);
    if (mode == SINGLE) return FOUND;
    const count = load<u32>(c, COUNT);
    const out = <usize>load<u32>(c, OUT) + ((<usize>count) << 3);
    store<u32>(out, load<u32>(c, BEST));
    store<u32>(out, load<u32>(c, LAST), 4);
    store<u32>(c, count + 1, COUNT);
    restart(c);
    if (count + 1 == load<u32>(c, OUT_PAIRS)) return FULL;
  }
}

/** Moves to the next text. Returns false if there is none. */
function nextStretch(c: usize): bool {
  const stretch = <usize>load<u32>(c, STRETCH);
  if (stretch == <usize>load<u32>(c, STRETCH_END)) return false;
  const from = load<u32>(stretch);
  store<u32>(c, from, AT);
  store<u32>(c, from, FROM);
  store<u32>(c, load<u32>(stretch, 4), TO);
  store<u32>(c, from, FLOOR);
  store<u32>(c, 0, LAST);
  store<u32>(c, UNKNOWN, STATE);
  store<u32>(c, 0, OVERRUN);
  store<u32>(c, <u32>stretch + 8, STRETCH);
  return true;
}

function restart(c: usize): void {
  const last = load<u32>(c, LAST);
  store<u32>(c, last, AT);
  store<u32>(c, last, FLOOR);
  store<u32>(c, 0, LAST);
  store<u32>(c, UNKNOWN, STATE);
}

/** Runs forwards to the end of the leftmost match, and stores this end in LAST. */
function forward(c: usize): u32 {
  const classes = <usize>load<u32>(c, CLASSES);
  const to = <usize>load<u32>(c, TO);
  let at = <usize>load<u32>(c, AT);
  let state = load<u32>(c, STATE);
  if (state == UNKNOWN) {
    if (at == to && load<u32>(c, FLOOR) != load<u32>(c, FROM) && load<u32>(c, MODE) != SINGLE) return DONE;
    const kind =
      at == <usize>load<u32>(c, FROM)
        ? load<u32>(c, EDGE_KIND)
        : <u32>load<u8>(classes + load<u8>(at - 1), KINDS);
    state = load<u32>(c + STARTS + (<usize>kind << 2));
    if (state == UNKNOWN) {
      store<u32>(c, kind, MISSING);
      return NEED_START;
    }
  }
  const fuel = load<i32>(c, FUEL);
  if (fuel <= 0) return PAUSE;
  const begin = at;
  const limit = min<usize>(to, at + fuel);
  const table = <usize>load<u32>(c, FORWARD);
  const pairs = <usize>load<u32>(c, PAIRS);
  const pairStates = load<u32>(c, PAIR_STATES);
  const classCount = load<u32>(c, CLASS_COUNT);
  const stride: u32 = (classCount + 1) << 2;
  const pairStride: u32 = (classCount * classCount) << 2;
  const startRow = rowOfStart(c, pairStates, pairStride);
  let last = load<u32>(c, LAST);
  let answer = GO_ON;
  if (state < pairStates && state * pairStride == startRow) at = nextStart(c, at, limit);

  let running = true;
  while (running) {
    if (state < pairStates) {
      let row = state * pairStride;
      while (at + 4 <= limit) {
        const next = load<u32>(
          pairs +
            row +
            load<u32>(classes + (<usize>load<u8>(at) << 2), FIRST) +
            load<u32>(classes + (<usize>load<u8>(at, 1) << 2), SECOND),
        );
        if (next == UNKNOWN) break;
        const after = load<u32>(
          pairs +
            next +
            load<u32>(classes + (<usize>load<u8>(at, 2) << 2), FIRST) +
            load<u32>(classes + (<usize>load<u8>(at, 3) << 2), SECOND),
        );
        if (after == UNKNOWN) {
          row = next;
          at += 2;
          break;
        }
        row = after;
        at += 4;
        if (row == startRow) at = nextStart(c, at, limit);
      }
      state = row / pairStride;
    }
    let steps: u32 = 0;
    let before = UNKNOWN; // the state before the previous step; UNKNOWN if there is none, or a match ended there
    let beforeClass: u32 = 0;
    do {
      const isEdge = at == limit;
      if (isEdge && limit != to) {
        answer = PAUSE;
        running = false;
        break;
      }
      const byteClass = isEdge ? classCount : <u32>load<u8>(classes + load<u8>(at));
      const next = load<u32>(table + state * stride + (byteClass << 2));
      if (next >= MATCHED) {
        if (next == UNKNOWN) {
          store<u32>(c, byteClass, MISSING);
          answer = NEED_STEP;
          running = false;
          break;
        }
        if (next == DEAD) {
          running = false;
          break;
        }
        last = <u32>at;
        before = UNKNOWN;
        state = next ^ MATCHED;
      } else {
        if (before < pairStates && next < pairStates)
          store<u32>(pairs + before * pairStride + ((beforeClass * classCount + byteClass) << 2), next * pairStride);
        before = state;
        beforeClass = byteClass;
        state = next;
      }
      if (isEdge) {
        running = false;
        break;
      }
      at++;
      steps++;
    } while (steps < SINGLE_STEPS || state >= pairStates);
  }
  store<u32>(c, <u32>at, AT);
  store<u32>(c, state, STATE);
  store<u32>(c, last, LAST);
  store<i32>(c, fuel - <i32>(at - begin), FUEL);
  if (answer != GO_ON) return answer;
  if (last == 0) return DONE;
  store<u32>(c, load<u32>(c, OVERRUN) + <u32>at - last, OVERRUN);
  return GO_ON;
}

/**
 * Returns the row in `pairs` of the start state, in which no match has begun. Returns NO_ROW if there is no needle, or
 * if no start state with a row is known. With a needle, the start state is the same for each kind of previous byte.
 */
function rowOfStart(c: usize, pairStates: u32, pairStride: u32): u32 {
  if (load<u32>(c, NEEDLE) == 0) return NO_ROW;
  for (let kind: usize = 0; kind < 16; kind += 4) {
    const state = load<u32>(c + STARTS + kind);
    if (state < pairStates) return state * pairStride;
  }
  return NO_ROW;
}

/**
 * Returns the first position at or after `at` at which a match may begin, but at most `limit`. May read beyond the end
 * of the text.
 */
function nextStart(c: usize, at: usize, limit: usize): usize {
  const bytes = <usize>load<u32>(c, NEEDLE);
  const masks = <usize>load<u32>(c, MASKS);
  const length = <usize>load<u32>(c, LENGTH);
  const first = <usize>load<u32>(c, NEEDLE_FIRST);
  const second = <usize>load<u32>(c, NEEDLE_SECOND);
  const firstByte = i8x16.splat(load<i8>(bytes + first));
  const firstMask = i8x16.splat(load<i8>(masks + first));
  const secondByte = i8x16.splat(load<i8>(bytes + second));
  const secondMask = i8x16.splat(load<i8>(masks + second));
  const lead = <usize>load<u32>(c, LEAD);
  for (let block = at; block < limit; block += 16) {
    let hits = i8x16.bitmask(hitsAt(block, first, second, firstByte, firstMask, secondByte, secondMask));
    for (; hits; hits &= hits - 1) {
      const place = block + ctz(hits);
      if (equals(place, bytes, masks, length)) return min<usize>(limit, max<usize>(at, place - lead));
    }
  }
  return max<usize>(at, limit - lead);
}

/** Runs backwards from LAST to the leftmost start of a match that ends there, and stores this start in BEST. */
function backward(c: usize): u32 {
  const classes = <usize>load<u32>(c, CLASSES);
  const from = <usize>load<u32>(c, FROM);
  const floor = <usize>load<u32>(c, FLOOR);
  let at = <usize>load<u32>(c, BACK_AT);
  let state = load<u32>(c, BACK_STATE);
  if (state == UNKNOWN) {
    const kind =
      at == <usize>load<u32>(c, TO)
        ? load<u32>(c, EDGE_KIND)
        : <u32>load<u8>(classes + load<u8>(at), KINDS);
    state = load<u32>(c + BACK_STARTS + (<usize>kind << 2));
    if (state == UNKNOWN) {
      store<u32>(c, kind, MISSING);
      return NEED_START;
    }
  }
  const table = <usize>load<u32>(c, BACKWARD);
  const classCount = load<u32>(c, CLASS_COUNT);
  const stride: u32 = (classCount + 1) << 2;
  let answer = GO_ON;
  while (true) {
    // the byte before the floor is also read, because it decides whether a match can begin at the floor
    const byteClass = at == from ? classCount : <u32>load<u8>(classes + load<u8>(at - 1));
    const next = load<u32>(table + state * stride + (byteClass << 2));
    if (next >= MATCHED) {
      if (next == UNKNOWN) {
        store<u32>(c, byteClass, MISSING);
        answer = NEED_STEP;
        break;
      }
      if (next == DEAD) break;
      store<u32>(c, <u32>at, BEST);
      state = next ^ MATCHED;
    } else state = next;
    if (at == floor) break;
    at--;
  }
  store<u32>(c, <u32>at, BACK_AT);
  store<u32>(c, state, BACK_STATE);
  return answer;
}
