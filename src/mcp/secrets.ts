/** Hides secrets from agents, and says so. */

import { QuernError } from "../base/errors.ts";
import { coreOf } from "../core-of.ts";
import { EngineFacade } from "../engine-facade.ts";
import type { Engine } from "../engine.ts";
import { SECRETS } from "./secret-patterns.ts";

/** What agents see of files and values that look like secrets. */
export type Secrets = "hide" | "show";

/** Says in an answer that finds nothing why a secret is not there. */
export const HIDDEN_WORDS = "Files and values that look like secrets are hidden.";

export interface Shown {
  readonly engine: Engine;
  readonly hidesSecrets: boolean;
}

/**
 * Returns the engine that agents use. Without `secrets`, secrets are hidden if the engine can do so. Throws if they
 * must be hidden and the engine cannot.
 */
export function shownEngine(engine: Engine, secrets: Secrets | undefined): Shown {
  const { without } = coreOf(engine);
  if (secrets === "hide" && !without)
    throw new QuernError(
      "INVALID_REQUEST",
      'secrets: "hide" needs the engine of one machine, with its own methods: this one is a cluster, or a host has replaced methods',
    );
  if (secrets === "show" || !without) return { engine, hidesSecrets: false };
  return { engine: new EngineFacade(without(SECRETS)), hidesSecrets: true };
}
