/**
 * Describes how a query is planned in each segment. The description lists the grams of each literal, the number of
 * pages with each gram, and the number of candidates. Only pages of files in scope are counted, because the other pages
 * would reveal something about repositories that the viewer may not see.
 */

import { countBits, intersect, type Bitset } from "../../base/bitset.ts";
import { compareText } from "../../base/compare.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import { gramNumber } from "../../kernel/gram-numbers.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { pagesWith, type Lookup } from "./planning/candidates.ts";
import { exclusionsOf } from "./planning/exclusion.ts";
import type { Literal } from "./reading/literal.ts";
import type { ExplainedSegment, ExplainResult, SearchInput } from "../messages/messages.ts";
import { counterInScope, pagesOf } from "./planning/pages.ts";
import type { PreparedQuery } from "./planning/prepare.ts";
import { planSegment } from "./planning/segment-plan.ts";
import { openDefinitions, type SearchTools, type ThreadTools } from "./reading/thread-tools.ts";

export async function explainSegments(
  { segments }: Pick<SearchInput, "segments">,
  {
    query,
    snapshot,
    thread,
    tools,
  }: {
    readonly query: PreparedQuery;
    readonly snapshot: Snapshot;
    readonly thread: ThreadTools;
    readonly tools: SearchTools;
  },
): Promise<ExplainResult> {
  const explained: ExplainedSegment[] = [];
  for (const { segment, scope, sets, symbols: edition } of segments) {
    try {
      const opened = thread.open(snapshot, segment);
      const symbols = opened && openDefinitions(snapshot, opened, edition);
      if (!opened || symbols === "gone") return "gone";
      const { reader } = opened;
      const asked = { query, scope, sets, symbols, isRanked: false };
      const plan = await planSegment(opened, asked, snapshot, tools);
      if (!plan) continue; // does not happen, because nothing stops the planning
      const { kernel, arena } = tools;
      const countInScope = counterInScope(scope, reader);
      const { isStopped, pause } = tools;
      const lookup = { reader, snapshot, kernel, arena, countInScope, isStopped, pause };
      const inScope = pagesOf(scope, reader);
      const literals: ExplainedSegment["literals"][number][][] = [];
      for (const atom of query.atoms) {
        const lists = atom.kind === "symbol" ? symbols?.names : undefined;
        const explain = (one: Literal) => explainLiteral(one, { ...lookup, lists }, inScope);
        literals.push(atom.literals.map(explain));
        await pause();
      }
      const candidateFiles = countBits(plan.candidates);
      const exclusions = candidateFiles === 0 ? await exclusionsOf(asked, lookup, tools) : [];
      explained.push({
        id: segment,
        literals: literals.flat(),
        candidatePages: plan.stats.ngramMatches,
        candidateFiles,
        ...(plan.undecided > 0 && { filesWithoutSymbols: plan.undecided }),
        excludedBy: exclusions.map(({ atoms, ...exclusion }) => ({
          ...exclusion,
          literals: [...atoms].flatMap((atom) => absentFrom(literals[atom]!)),
        })),
      });
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      // a damaged segment cannot be planned; searches report the damage
      explained.push({
        id: segment,
        literals: [],
        candidatePages: 0,
        candidateFiles: 0,
        excludedBy: [],
      });
    }
  }
  return explained;
}

/** Returns the texts of those literals that occur on no page in scope. */
const absentFrom = (literals: ExplainedSegment["literals"]): string[] =>
  literals.filter(({ pages }) => pages === 0).map(({ text }) => text);

function explainLiteral(
  literal: Literal,
  lookup: Lookup,
  inScope: Bitset,
): ExplainedSegment["literals"][number] {
  const pages = (grams: readonly number[]) => {
    const held = pagesWith(grams, lookup).pages;
    return countBits(held ? intersect(held, inScope) : inScope);
  };
  const grams = [...gramTexts(literal)].map(([number, gram]) => ({ gram, pages: pages([number]) }));
  grams.sort((a, b) => a.pages - b.pages || compareText(a.gram, b.gram));
  return { text: literal.text, pages: pages(literal.grams), grams };
}

/** Maps the number of each gram that is looked up to its text, which is shown to people. */
function gramTexts({ grams, folded }: Literal): Map<number, string> {
  const texts = new Map<number, string>();
  for (let i = 2; i < folded.length; i++) {
    const number = gramNumber(folded[i - 2]!, folded[i - 1]!, folded[i]!);
    if (grams.includes(number))
      texts.set(number, Buffer.from(folded.subarray(i - 2, i + 1)).toString());
  }
  return texts;
}
