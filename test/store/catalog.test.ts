/** A catalog that is made from an earlier one equals one that is loaded from scratch. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { loadCatalog, type Catalog } from "../../src/store/catalog/catalog.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

const NAMES = ["Shop", "shop", "web/api", "web/app", "zoo", "kit", "\u212ait"];

const step = fc.record({
  name: fc.constantFrom(...NAMES),
  removes: fc.boolean(),
  isPublic: fc.boolean(),
  displayName: fc.constantFrom(undefined, "a Name", "another"),
  text: fc.constantFrom("one\n", "two\n"),
});

const shown = ({ manifest, repositories, names, publicIds }: Catalog) => ({
  manifest: { ...manifest, repositories: [...manifest.repositories] },
  repositories: [...repositories],
  ordered: names.ordered,
  places: names.ordered.map(({ id }) => names.places[id]),
  byName: NAMES.map((name) => names.byName.get(name)),
  byFolded: ["shop", "kit", "zoo"].map((name) =>
    names.byFolded.get(name)?.toSorted((a, b) => a - b),
  ),
  publicIds: [...publicIds].sort((a, b) => a - b),
});

test("after each change, whichever of them were seen", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  const environment = openEnvironment(path, { readOnly: true });
  const load = async (before?: Catalog): Promise<Catalog> => {
    const snapshot = environment.snapshot();
    try {
      return await loadCatalog(snapshot, before, () => undefined);
    } finally {
      snapshot.close();
    }
  };
  let seen: Catalog | undefined;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 2 }), async (steps) => {
      for (const { name, removes, isPublic, displayName, text } of steps) {
        const metadata = { public: isPublic, ...(displayName !== undefined && { displayName }) };
        const files = [{ path: "a.txt", content: text }];
        if (removes) await engine.remove(name);
        else await engine.index(documents({ name, ...metadata, files }), { symbols: "skip" });
      }
      seen = await load(seen);
      expect(shown(seen)).toEqual(shown(await load()));
    }),
    { numRuns: 60 },
  );
  await environment.close();
});
