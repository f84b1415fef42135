/**
 * Prepares the plan of a query in one thread. Places literals in the memory of the thread's kernel, and compiles
 * expressions.
 */

import { compileExpression } from "../../../regex/expression.ts";
import { createMatcher } from "../../../regex/matcher.ts";
import { plainLiteral } from "../../../regex/plain-literal.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { decide, hasNegation, operandsByAtom, sizeOf } from "./evaluate.ts";
import { placeExpression, type PlacedExpression } from "./expression-plan.ts";
import { byKind, isContentAtom, type ShownAtoms } from "./shown-atoms.ts";
import { prepareLiteral, type Literal } from "../reading/literal.ts";
import { pathAnchors, type PathExpression } from "./path-scan.ts";
import { shownAtoms, type Plan, type PlanAtom, type PlanNode } from "../../messages/plan.ts";
import { placeLiteral, type PlacedLiteral } from "../reading/literal-scanner.ts";
import { sharingOf, type Sharing } from "./sharing.ts";
import type { SearchTools } from "../reading/thread-tools.ts";

export type PreparedAtom = {
  /** The literals whose grams are looked up in each segment. */
  readonly literals: readonly Literal[];
} & (
  | { readonly kind: "literal"; readonly placed: PlacedLiteral }
  | ({ readonly kind: "path" } & PathExpression)
  | { readonly kind: "content" | "symbol"; readonly placed: PlacedExpression }
  | { readonly kind: "language"; readonly language: string | undefined }
);

export const gramsOf = ({ literals }: PreparedAtom): number =>
  literals.reduce((sum, { grams }) => sum + grams.length, 0);

/** The number of nodes of a query's tree that are evaluated between two checks of the time limit. */
const NODES_AT_ONCE = 50_000;
/**
 * The maximum number of files that are evaluated between two checks of the time limit. Rating a file takes a
 * microsecond.
 */
const FILES_AT_ONCE = 512;

const NO_LITERALS: readonly Literal[] = [];

export interface PreparedQuery {
  readonly root: PlanNode;
  readonly atoms: readonly PreparedAtom[];
  /** The atoms that can be decided only with the content of a file. */
  readonly contentAtoms: readonly number[];
  /** The atoms whose ranges can be shown, which are those under no negation. */
  readonly shown: ReadonlySet<number>;
  /** The atoms whose ranges are shown for every matching file. Undefined if these atoms differ between files. */
  readonly shownAlways: ShownAtoms | undefined;
  /** Whether a file can match only if some content atom is true. */
  readonly isContentOnly: boolean;
  /** The only content atom, if a candidate file matches exactly when this atom is true. Otherwise undefined. */
  readonly single: number | undefined;
  /** The operands of the root that contain each atom; see operandsByAtom(). */
  readonly operands: readonly (readonly PlanNode[])[];
  readonly hasNegation: boolean;
  /**
   * The number of files that are evaluated between two checks of the time limit. Evaluating them takes about half a
   * millisecond.
   */
  readonly filesAtOnce: number;
  /** The expressions over content that share one pass over each blob. Undefined if there are none. */
  readonly sharing: Sharing | undefined;
}

/** The tools for preparing a plan. `pause` is called between slices of this work. */
export type Preparing = Pick<SearchTools, "kernel" | "arena" | "isInline" | "pause">;

/**
 * Prepares a plan, and yields to the event loop between atoms.
 * REQUIRES: while the prepared query is used, no earlier mark of the arena is released, and no other task uses the
 * tools.
 */
export async function prepareQuery(plan: Plan, tools: Preparing): Promise<PreparedQuery> {
  const never = () => false;
  return (await prepareInTime(plan, { ...tools, isStopped: never }))!;
}

/**
 * Prepares a plan as prepareQuery() does, but resolves to undefined if the search was stopped before the end. Preparing
 * a large expression takes about 20 ms.
 */
export async function prepareInTime(
  plan: Plan,
  tools: Preparing & Pick<SearchTools, "isStopped">,
): Promise<PreparedQuery | undefined> {
  const atoms: PreparedAtom[] = [];
  for (const atom of plan.atoms) {
    if (tools.isStopped()) return undefined;
    const prepared = prepareAtom(atom, tools);
    if (tools.isInline) await makeAutomaton(prepared, tools);
    atoms.push(prepared);
    await tools.pause();
  }
  return tools.isStopped() ? undefined : queryOf(plan, atoms, tools.kernel);
}

/**
 * Builds the automaton of an atom in slices, for the calling thread. In a worker, the automaton is built only when the
 * first text is read.
 */
async function makeAutomaton(
  atom: PreparedAtom,
  { pause }: Pick<Preparing, "pause">,
): Promise<void> {
  if (atom.kind === "literal" || atom.kind === "language") return;
  const { matcher } = atom.kind === "path" ? atom : atom.placed;
  for (const _ of matcher.prepare()) await pause();
}

/** Assembles the query. Expressions that share a pass are compiled a second time, into one common automaton. */
function queryOf(
  { root, atoms }: Plan,
  prepared: readonly PreparedAtom[],
  kernel: Kernel,
): PreparedQuery {
  const isContent = (atom: number) => isContentAtom(prepared[atom]!);
  const withoutContent = {
    set: () => undefined,
    atom: (atom: number) => (isContent(atom) ? false : undefined),
  };
  const contentAtoms = [...atoms.keys()].filter(isContent);
  const shown = shownAtoms(root);
  return {
    root,
    atoms: prepared,
    contentAtoms,
    shown,
    shownAlways: hasChoice(root) ? undefined : byKind(shown, prepared),
    isContentOnly: decide(root, withoutContent) === false,
    single: singleAtom(root, contentAtoms),
    operands: operandsByAtom(root, atoms.length),
    hasNegation: hasNegation(root),
    filesAtOnce: Math.min(FILES_AT_ONCE, Math.ceil(NODES_AT_ONCE / sizeOf(root))),
    sharing: sharingOf(
      new Map(prepared.flatMap((atom, i) => (atom.kind === "content" ? [[i, atom.placed]] : []))),
      kernel,
    ),
  };
}

function prepareAtom(atom: PlanAtom, { kernel, arena }: Preparing): PreparedAtom {
  switch (atom.kind) {
    case "literal": {
      const literal = prepareLiteral(atom);
      return { kind: "literal", placed: placeLiteral(literal, arena), literals: [literal] };
    }
    case "content":
    case "symbol": {
      const placed = placeExpression(atom, kernel, arena);
      return { kind: atom.kind, placed, literals: placed.literals };
    }
    case "path": {
      const { pattern, caseSensitive } = atom;
      const expression = compileExpression(pattern, { caseSensitive });
      const matcher = createMatcher(kernel, expression);
      const anchors = pathAnchors(expression.required, arena);
      const isPlain = plainLiteral(expression.syntax) !== undefined;
      return { kind: atom.kind, expression, matcher, isPlain, anchors, literals: NO_LITERALS };
    }
    case "language":
      return { kind: "language", language: atom.language, literals: NO_LITERALS };
  }
}

/**
 * Returns the only content atom of a query, if it is an operand of the conjunction. Otherwise returns undefined. All
 * other operands are decided before content is read, so a candidate matches if and only if this atom is true.
 */
function singleAtom(root: PlanNode, contentAtoms: readonly number[]): number | undefined {
  const [atom] = contentAtoms;
  if (contentAtoms.length !== 1 || occurrences(root, atom!) !== 1) return undefined;
  const operands = root.kind === "and" ? root.children : [root];
  return operands.some((operand) => operand.kind === "atom" && operand.atom === atom)
    ? atom
    : undefined;
}

/** Returns true if the atoms whose ranges are shown may differ between matching files. */
function hasChoice(node: PlanNode): boolean {
  if (node.kind === "and") return node.children.some(hasChoice);
  return node.kind === "or" && shownAtoms(node).size > 0;
}

function occurrences(node: PlanNode, atom: number): number {
  if (node.kind === "atom") return node.atom === atom ? 1 : 0;
  if (node.kind === "not") return occurrences(node.child, atom);
  if (node.kind !== "and" && node.kind !== "or") return 0;
  return node.children.reduce((sum, child) => sum + occurrences(child, atom), 0);
}
