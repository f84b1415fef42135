/** Defines the commands for the process that runs quern (subject.ts), and its answers. */

import type { SearchRequest } from "../src/search/messages/request.ts";
import type { Stall } from "./stall.ts";
import type { Patience } from "./statistics.ts";
import type { Cost } from "./workspace-figures.ts";

export type SourceSpec =
  | { readonly kind: "directory" | "git"; readonly path: string; readonly name: string }
  | {
      readonly kind: "changes";
      readonly name: string;
      readonly changes: readonly { path: string; content: string }[];
    }
  | { readonly kind: "generated"; readonly repositories: number; readonly bytesEach: number };

export interface Opened {
  readonly ms: number;
}

export interface Indexed {
  readonly ms: number;
  readonly files: number;
  readonly bytesRead: number;
  readonly symbols: number;
  readonly stall: Stall;
}

export interface Asked {
  readonly times: readonly number[]; // ms
  readonly matches: number;
  readonly files: number;
  /** From the stats of the last run. */
  readonly contentBytes: number;
  readonly isComplete: boolean;
}

export interface FileCount {
  readonly path: string;
  readonly matches: number;
  /** The number of lines that contain a match, or a part of one. */
  readonly lines: number;
}

export interface Commands {
  open(options: { path: string; workers: number; memoryBudget: number }): Promise<Opened>;
  index(options: { source: SourceSpec; symbols: boolean }): Promise<Indexed>;
  ask(options: { request: SearchRequest; patience: Patience }): Promise<Asked>;
  /** Searches once, and resolves to the milliseconds that this took. */
  first(options: { request: SearchRequest }): Promise<{ ms: number; matches: number }>;
  /** For each run, resolves to the milliseconds from stream() to the first chunk, or to the end if there is none. */
  firstChunk(options: { request: SearchRequest; patience: Patience }): Promise<number[]>;
  perFile(options: { request: SearchRequest }): Promise<FileCount[]>;
  /** Runs several searches one after another. Resolves to the longest stall of each. */
  stalls(options: { request: SearchRequest; searches: number }): Promise<Stall[]>;
  contentBytes(options: object): Promise<number>;
  compact(options: object): Promise<void>;
  /** Follows a folder. Resolves when it is indexed with its symbols. */
  follow(options: { path: string }): Promise<{ ms: number }>;
  /** Resolves to the bytes of the heap after a garbage collection. */
  heap(options: object): Promise<number>;
  idle(options: { ms: number }): Promise<{ processorMs: number[]; written: number }>;
  findable(options: { path: string; runs: number }): Promise<Cost[]>;
  unchanged(options: {
    request: SearchRequest;
    rounds: number;
  }): Promise<{ engine: Cost[]; workspace: Cost[] }>;
  changed(options: {
    path: string;
    files: number;
    searches: number;
  }): Promise<{ first: Cost; next: Cost[] }>;
  close(options: object): Promise<void>;
}

export type CommandName = keyof Commands;

export interface Order {
  readonly name: CommandName;
  readonly options: object;
}

export type Outcome = { readonly value: unknown } | { readonly error: string };
