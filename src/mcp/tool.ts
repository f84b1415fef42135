/** What a tool is, and what all of them share. */

import { z } from "zod";
import type { Engine } from "../engine.ts";
import type { KnowsRepositories } from "../repositories.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { CountTokens } from "./answer.ts";
import type { Cursors } from "./cursors.ts";
import type { Note } from "./guard.ts";

/** What tools ask of an engine. */
export type AskedEngine = Pick<
  Engine,
  "search" | "explain" | "read" | "list" | "repository" | "repositories" | "history"
> &
  Partial<KnowsRepositories>;

/** What a call runs with. */
export interface ToolContext {
  readonly engine: AskedEngine;
  /** Who asks; undefined: everything is visible. */
  readonly viewer: Viewer | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds after which a search answers with what it has; undefined: none. */
  readonly timeoutMs: number | undefined;
  readonly cursors: Cursors;
  readonly count: CountTokens;
  /** What is still being indexed, in words; empty: nothing. */
  readonly behind: () => readonly string[];
  /** Takes what is recorded of the call beside its arguments: what a cursor stands for. */
  readonly note?: Note;
}

/** What an answer says beside its text. */
export interface Facts {
  /** Exact, unless `complete` is false and the text says why. */
  readonly matches?: number;
  readonly files?: number;
  /** Matches, files or lines in the text. */
  readonly shown: number;
  /** Whether there is nothing more to tell, and nothing was left out. */
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
  /** Which facts its answers have. */
  readonly output: readonly (keyof Facts)[];
  readonly run: (args: z.output<Input>, context: ToolContext) => Promise<Outcome>;
}

/** Keeps the type of a tool's arguments with it. */
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

/** What answers of a list of files or lines say. */
export const LISTED = ["files", "shown", "complete", "cursor"] as const;
/** What answers of matches say. */
export const MATCHED = ["matches", ...LISTED] as const;

/** Every fact there is. */
export const OUTPUT = z.object({
  matches: z.int().optional(),
  files: z.int().optional(),
  shown: z.int(),
  complete: z.boolean(),
  cursor: z.string().optional(),
});
