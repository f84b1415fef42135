/**
 * Serves files and folders as plain text below `/browse/REPOSITORY@REVISION/-/blob/PATH` and `…/-/tree/PATH`. The
 * webUrl of a result leads to this route if the service has no web page. Permissions, refusals and audit records work
 * as for the other routes. If the service has a web page, the page answers these paths instead.
 */

import { withoutEndSlashes } from "../base/paths.ts";
import type { HistoryEntry } from "../history/history.ts";
import { readAnywhere, type Asked } from "./file-routes.ts";
import { lateResponse, type AnswerOptions } from "./json-body.ts";
import { Refusal } from "./refusal.ts";
import { findVisible } from "./repository-routes.ts";
import { checkRef } from "./revisions.ts";
import { plain, type Call, type Route } from "./route.ts";
import { openLister } from "./tree-lister.ts";

export const BROWSE_PATH = "/browse/*";

export const browseRoute: Route = plain(
  {
    method: "get",
    path: BROWSE_PATH,
    action: "browse",
    audit: "file.read",
    tag: "Repositories",
    summary: "Read a file or a folder as plain text",
    access: "search",
    answers: { status: 200, description: "The text" },
  },
  browse,
);

interface Address {
  readonly repo: string;
  /** The revision. Undefined stands for the default revision. */
  readonly ref: string | undefined;
  readonly kind: "blob" | "tree";
  readonly path: string;
}

const ADDRESS = /^([^@]+?)(?:@(.*?))?\/-\/(blob|tree)\/(.*)$/s;

/**
 * Parses the percent-encoded part of the path that follows `/browse/`. Returns undefined if it is not the address of
 * a file or folder.
 */
export function parseAddress(below: string): Address | undefined {
  const [, repo = "", ref = "", kind, path = ""] = ADDRESS.exec(below) ?? [];
  if (kind !== "blob" && kind !== "tree") return undefined;
  try {
    const [name, revision, decoded] = [repo, ref, path].map(decodeURIComponent);
    return { repo: name!, ref: revision || undefined, kind, path: decoded! };
  } catch {
    return undefined;
  }
}

async function browse(call: Call): Promise<Response> {
  const { pathname } = new URL(call.request.url);
  const below = pathname.slice(`${call.settings.basePath}/browse/`.length);
  const address = parseAddress(below);
  if (address === undefined) throw new Refusal("NOT_FOUND", "there is nothing at this path");
  const { repo, ref, kind, path } = address;
  call.note({ repo, path, ...(ref !== undefined && { ref }) });
  checkRef(ref);
  const repository = await findVisible(call, repo);
  const { giveBack, onReader } = await call.slots.take(call.caller, call.request.signal);
  try {
    const place = { repository, path, ref };
    const text = kind === "blob" ? await fileText(call, place) : await folderText(call, place);
    return textResponse(text, { onEnd: giveBack, onReader, confirm: call.confirm });
  } catch (error) {
    giveBack();
    throw error;
  }
}

const fileText = async (call: Call, place: Asked): Promise<string> =>
  (await readAnywhere(call, place)).content;

async function folderText(call: Call, { repository, path, ref }: Asked): Promise<string> {
  const folder = withoutEndSlashes(path);
  const list = await openLister(call, { repository, revision: ref, paths: [folder] });
  const entries = await list?.(folder);
  if (entries === undefined) throw new Refusal("NOT_FOUND", "there is no such folder");
  return entries.map(lineOf).join("");
}

const lineOf = ({ type, name }: HistoryEntry): string => `${name}${type === "folder" ? "/" : ""}\n`;

/** Headers that make every browser show the response as plain text, whatever the text is. */
const HEADERS = {
  "Content-Type": "text/plain; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; sandbox",
};

function textResponse(text: string, options: AnswerOptions): Response {
  const response = lateResponse(piecesOf(text), options);
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  return response;
}

const PIECE = 32 * 1024; // UTF-16 units

/** Splits a text into pieces. No piece ends inside a surrogate pair. */
async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let from = 0; from < text.length;) {
    const last = text.charCodeAt(from + PIECE - 1);
    const to = from + PIECE - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    yield text.slice(from, to);
    from = to;
  }
}
