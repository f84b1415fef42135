/** Opens a data directory for a host. */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { invalid } from "./base/errors.ts";
import { checkKeys, type KeysOf } from "./base/known-keys.ts";
import { mustBe, wholeNumber } from "./base/must-be.ts";
import { yieldTurn } from "./base/yield.ts";
import type { Engine, OpenOptions } from "./engine.ts";
import { EngineFacade } from "./engine-facade.ts";
import { INTERNALS, type Internals } from "./internals.ts";
import { localCore, type CoreOptions, type LocalCore } from "./local-core.ts";
import { defaultWebUrl } from "./search/caller/present.ts";
import { openStore } from "./store/catalog/open.ts";

const MIB = 2 ** 20;

/**
 * Opens a data directory. If the directory does not exist, creates it, or with `readOnly` rejects with
 * INDEX_NOT_FOUND. Other engines and processes may have the same directory open at the same time.
 *
 * @example
 * const engine = await open("./index");
 * await engine.index(directory("./src"));
 * const { files } = await engine.search({ query: "todo or fixme", matches: 20 });
 * await engine.close();
 */
export function open(path: string, options: OpenOptions = {}): Promise<Engine> {
  return openWith(path, options, {});
}

/**
 * Opens a data directory as open() does. `internals` overrides the default internal settings. REQUIRES: if
 * `internals.complete` is set, nobody searches the directory, because parts of its segments may be missing until they
 * are fetched.
 */
export async function openWith(
  path: string,
  options: OpenOptions,
  internals: Partial<Internals>,
): Promise<Engine> {
  return new EngineFacade(await openCore(path, options, internals));
}

/** Opens a data directory as openWith() does, and returns the core of the engine. */
export async function openCore(
  path: string,
  options: OpenOptions,
  internals: Partial<Internals> = {},
): Promise<LocalCore> {
  const checked = checkOptions(path, options);
  const environment = await openStore(resolve(path), { readOnly: checked.readOnly });
  await yieldTurn(); // the constructor compiles the kernel, which takes 2 ms
  return localCore(environment, checked, { ...INTERNALS, ...internals });
}

const OPEN_OPTIONS: KeysOf<OpenOptions> = {
  readOnly: true,
  workers: true,
  memoryBudget: true,
  warmUp: true,
  maxFileSize: true,
  lockTimeoutMs: true,
  webUrl: true,
  contexts: true,
  onWarning: true,
};

function checkOptions(path: string, options: OpenOptions): CoreOptions {
  if (typeof path !== "string" || path === "")
    throw invalid("open: the path of the data directory must be a non-empty string");
  checkKeys({ call: "open", what: "option" }, options, OPEN_OPTIONS);
  return {
    readOnly: options.readOnly ?? false,
    workers: within("workers", options.workers ?? Math.min(availableParallelism(), 4), 0, 256),
    memoryBudget: within(
      "memoryBudget",
      options.memoryBudget ?? 256 * MIB,
      32 * MIB,
      Number.MAX_SAFE_INTEGER,
    ),
    warmUp: options.warmUp ?? true,
    maxFileSize: within("maxFileSize", options.maxFileSize ?? 2 * MIB, 1, 16 * MIB),
    lockTimeoutMs: within("lockTimeoutMs", options.lockTimeoutMs ?? 0, 0, Number.MAX_SAFE_INTEGER),
    webUrl: options.webUrl ?? defaultWebUrl,
    contexts: options.contexts,
    onWarning: options.onWarning ?? (() => {}),
  };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`open: ${mustBe(name, wholeNumber(least, most), value)}`);
}
