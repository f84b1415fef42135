/** Defines the interface of a tool, and the arguments and facts that several tools share. */

import { z } from "zod";
import type { Engine } from "../engine.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { CountTokens } from "./answer.ts";
import type { Cursors } from "./cursors.ts";
import type { Note } from "./guard.ts";

/** The context that a call of a tool receives in addition to its arguments. */
export interface ToolContext {
  readonly engine: Engine;
  /** The viewer of the call. If undefined, all repositories are visible. */
  readonly viewer: Viewer | undefined;
  readonly signal: AbortSignal;
  /**
   * The time-out of a search, in milliseconds. After that, the search answers with what it has found. No limit if
   * undefined.
   */
  readonly timeoutMs: number | undefined;
  readonly cursors: Cursors;
  readonly count: CountTokens;
  /** Whether the engine hides secrets. */
  readonly hidesSecrets: boolean;
  /** Returns sentences that say what is still being indexed. Returns an empty list if nothing is. */
  readonly behind: () => readonly string[];
  /** Adds facts to the record of the call, such as the request that a cursor refers to. */
  readonly note?: Note;
}

/** Numbers and flags that accompany the text of an answer. */
export interface Facts {
  /** The number of matches. Exact, unless `complete` is false and the text says why. */
  readonly matches?: number;
  readonly files?: number;
  /** The number of matches, files or lines in the text. */
  readonly shown: number;
  /** Whether the answer is the last page and leaves nothing out. */
  readonly complete: boolean;
  readonly cursor?: string;
}

export interface Outcome {
  readonly text: string;
  readonly facts: Facts;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Other names of fields that models write, which the schema does not show. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The facts that the tool's answers contain. */
  readonly output: readonly (keyof Facts)[];
  readonly run: (args: z.output<Input>, context: ToolContext) => Promise<Outcome>;
}

/** Returns the tool itself. Lets TypeScript infer the type of the tool's arguments from its schema. */
export const tool = <Input extends z.ZodObject>(given: Tool<Input>): Tool =>
  given as unknown as Tool;

const LEAST_TOKENS = 200;
const MOST_TOKENS = 25_000;

export const maxTokens = z.int().min(LEAST_TOKENS).max(MOST_TOKENS).default(4_000);
export const cursor = z.string().optional();
export const text = z.string().optional();

/** Filters that most tools take. */
export const filters = {
  repository: text,
  path: text,
  language: text,
  revision: text,
};

export interface Filters {
  readonly repository?: string | undefined;
  readonly path?: string | undefined;
  readonly language?: string | undefined;
  readonly revision?: string | undefined;
}

/** The fields of OUTPUT in answers that list files or lines. */
export const LISTED = ["files", "shown", "complete", "cursor"] as const;
/** The fields of OUTPUT in answers that list matches. */
export const MATCHED = ["matches", ...LISTED] as const;

/** The structured part of a tool's answer. Each tool fills in some of the fields. */
export const OUTPUT = z.object({
  matches: z.int().optional(),
  files: z.int().optional(),
  shown: z.int(),
  complete: z.boolean(),
  cursor: z.string().optional(),
});
