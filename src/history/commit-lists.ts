/**
 * Lists of commits that are kept in memory, so that a page of a long history need not walk it again:
 * the ids of all commits that a set of filters lets through, in git's order, 20 bytes each. A walk of
 * 75 000 commits takes git some 0.5 s; a page by its ids is one short command.
 *
 * A list belongs to one commit and never changes. Where a revision has moved since, its number is the
 * old one and what git counts on each side between the two; its ids are only listed again when a deep
 * page is asked for. That sum does not hold where git simplifies the history (a path) or stops early
 * (dates): those are counted again.
 */

import { LruCache } from "../base/lru-cache.ts";
import { pathArguments, filterArguments } from "./filters.ts";
import type { Operation } from "./operation.ts";
import type { Walk } from "./commits.ts";

export interface CommitList {
  readonly total: number;
  /** Bytes of ids, one after another; undefined where only the number is known. */
  readonly ids?: Buffer;
  /** Whether there are more ids than may be kept. */
  readonly isLong?: boolean;
}

/** Of all lists together. */
const MOST_BYTES = 32 * 2 ** 20;
/** What a list counts for beside its ids, so that the number of lists has a limit too. */
const LIST_BYTES = 4096;
const MOST_TIPS = 1000;

/** What is asked for: from where a revision stands now. */
export interface Asked {
  /** Tells the repository from others, and from its own states in which git lists others. */
  readonly repository: string;
  readonly revision: string;
  readonly walk: Walk;
}

/** The lists that were asked for last. */
export class CommitLists {
  readonly #mostBytes: number;
  readonly #lists: LruCache<string, CommitList>;
  /** Where a revision stood when it was asked for last. */
  readonly #tips = new LruCache<string, { readonly tip: string }>({ most: MOST_TIPS });

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
    this.#lists = new LruCache({
      most: mostBytes,
      costOf: ({ ids }) => LIST_BYTES + (ids?.length ?? 0),
    });
  }

  /** Where ids are not needed, they may be there all the same. Those of too many commits never are. */
  async find(
    operation: Operation,
    asked: Asked,
    { needsIds }: { needsIds: boolean },
  ): Promise<CommitList> {
    const { walk, revision } = asked;
    const name = `${revision} ${whichOf(asked)}`;
    const before = this.#tips.get(name)?.tip;
    this.#tips.set(name, { tip: walk.tip });
    const kept = this.peek(asked);
    if (kept !== undefined && (kept.ids !== undefined || kept.isLong || !needsIds)) return kept;
    const old = before === undefined ? undefined : this.#lists.get(`${before} ${whichOf(asked)}`);
    const list =
      (needsIds || old === undefined ? undefined : await moved(operation, walk, before!, old)) ??
      (await listAll(operation, walk, this.#mostBytes));
    this.#lists.set(keyOf(asked), list);
    return list;
  }

  /** What is there already. */
  peek(asked: Asked): CommitList | undefined {
    return this.#lists.get(keyOf(asked));
  }
}

const whichOf = ({ repository, walk }: Asked): string =>
  JSON.stringify([repository, walk.filters, walk.dates]);
const keyOf = (asked: Asked): string => `${asked.walk.tip} ${whichOf(asked)}`;

/** The ids of a page. */
export function idsOf(
  { ids, idBytes }: { ids: Buffer; idBytes: number },
  { skip, limit }: { skip: number; limit: number },
): string[] {
  const page = ids.subarray(skip * idBytes, (skip + limit) * idBytes).toString("hex");
  return page.match(new RegExp(`.{${2 * idBytes}}`, "g")) ?? [];
}

/** More ids than may be kept are only counted. */
async function listAll(
  operation: Operation,
  { tip, filters, dates }: Walk,
  mostBytes: number,
): Promise<CommitList> {
  const idBytes = tip.length / 2;
  const chunks: Buffer[] = [];
  let total = 0;
  const args = ["log", "-z", "--format=%H", ...filterArguments(filters, dates), tip];
  for await (const records of operation.records([...args, ...pathArguments(filters.path)])) {
    const ids = Buffer.from(records.toString("latin1").replaceAll("\0", ""), "hex");
    total += ids.length / idBytes;
    if (total * idBytes <= mostBytes) chunks.push(ids);
    else chunks.length = 0;
  }
  if (total * idBytes > mostBytes) return { total, isLong: true };
  return { total, ids: Buffer.concat(chunks) };
}

/** Undefined where the sum does not hold, or the old commit is gone. */
async function moved(
  operation: Operation,
  { tip, filters, dates }: Walk,
  before: string,
  { total }: CommitList,
): Promise<CommitList | undefined> {
  if (filters.path !== undefined || dates.length > 0) return undefined;
  const args = ["log", "--format=%m", "--left-right", ...filterArguments(filters, dates)];
  const { code, stdout, isCut } = await operation.output([...args, `${before}...${tip}`, "--"]);
  if (code !== 0 || isCut) return undefined;
  const marks = stdout.toString("latin1");
  return { total: total + marks.split(">").length - marks.split("<").length };
}
