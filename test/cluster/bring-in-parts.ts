/** Brings an engine to the state of a corpus in several runs, so that repositories lie in several segments. */

import type { Engine } from "../../src/engine.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus } from "../oracle/corpus.ts";

/**
 * Does what bringTo() does, but in several runs, so that there are several segments. Some repositories are in more than
 * one.
 */
export async function bringInParts(engine: Engine, corpus: Corpus): Promise<Corpus> {
  for (const { name } of await engine.repositories()) await engine.remove(name);
  const ids = new Map<string, number>();
  for (const share of [1, 2])
    for (const repository of corpus.repositories) {
      const revisions = repository.revisions.map((revision) => ({
        ...revision,
        files: revision.files.filter((_, i) => share === 2 || i % 2 === 0),
      }));
      const source = sourceOf({ ...repository, revisions });
      const [report] = await engine.index(source, { symbols: "skip" });
      ids.set(repository.name, report!.repositoryId);
    }
  return { repositories: corpus.repositories.map((one) => ({ ...one, id: ids.get(one.name)! })) };
}
