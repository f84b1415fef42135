/**
 * Writes and reads the cursors of searches in histories. A cursor is a MessagePack array in base64url, which has the
 * position where a page ended: `[version, query, state, date, repository, commit, place, ranges]`. `place` is that of
 * the change among those of its commit, and `ranges` the number of its ranges that were delivered.
 */

import { createHash } from "node:crypto";
import { pack, unpack } from "msgpackr";
import { invalid, QuernError } from "../base/errors.ts";
import type { CheckedRequest } from "../search/messages/request.ts";

/** Differs from the version of ordinary cursors. */
const VERSION = 1001;
const DIGEST_BYTES = 8;
const MOST_CHARACTERS = 1024;

export interface ChangePlace {
  /** The committer date, in seconds since 1970. */
  readonly date: number;
  readonly repository: number;
  /** The id of the commit. */
  readonly commit: string;
  readonly place: number;
  readonly ranges: number;
}

export interface ChangeCursors {
  /** The position where the previous page ended. Undefined for the first page. */
  readonly after: ChangePlace | undefined;
  /** Whether what the viewer may see has changed since the previous page. */
  readonly indexChanged: boolean;
  readonly write: (place: ChangePlace) => string;
}

export function changeCursors(
  request: CheckedRequest & { readonly after: string },
  state: Uint8Array,
): ChangeCursors {
  const { query, isRegexEnabled, isCaseSensitivityEnabled, matchesPerFile = 0, after } = request;
  const digest = createHash("sha256")
    .update(pack([query, isRegexEnabled, isCaseSensitivityEnabled, matchesPerFile]))
    .digest()
    .subarray(0, DIGEST_BYTES);
  const write = ({ date, repository, commit, place, ranges }: ChangePlace): string =>
    Buffer.from(pack([VERSION, digest, state, date, repository, commit, place, ranges])).toString(
      "base64url",
    );
  if (after === "") return { after: undefined, indexChanged: false, write };
  const fields = unpacked(after);
  if (!Array.isArray(fields) || fields[0] !== VERSION || fields.length !== 8)
    throw invalid('after must be "" or the nextCursor of a response to the same request');
  const [, ofQuery, before, date, repository, commit, place, ranges] = fields as unknown[];
  const isSound =
    ofQuery instanceof Uint8Array &&
    before instanceof Uint8Array &&
    Number.isFinite(date) &&
    typeof commit === "string" &&
    [repository, place, ranges].every((one) => Number.isSafeInteger(one));
  if (!isSound) throw invalid('after must be "" or the nextCursor of a response');
  if (Buffer.compare(ofQuery, digest) !== 0)
    throw invalid(
      "after is a cursor from another request: query, flags and matchesPerFile must stay the same from page to page",
    );
  return {
    after: { date, repository, commit, place, ranges } as ChangePlace,
    indexChanged: Buffer.compare(before, state) !== 0,
    write,
  };
}

function unpacked(text: string): unknown {
  if (text.length > MOST_CHARACTERS || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return unpack(Buffer.from(text, "base64url"));
  } catch {
    return undefined; // the bytes are not MessagePack
  }
}

export const placeGone = (): QuernError =>
  new QuernError(
    "CURSOR_EXPIRED",
    "after refers to a commit that no longer exists: request the first page again",
  );
