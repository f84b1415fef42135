/** KnownEntries must behave like a map from names to states, whether it is packed or not. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownEntries } from "../../src/workspace/known-entries.ts";

/** Names that contain one another, look like states, or are in no one-byte encoding. */
const NAMES = ["a", "aa", "ba", "a-b", "y", "young", "1-2", "\n", "..a", "é", "日本", "__proto__"];
const STATES = ["young", "1-2", "y", "a", "", "too-large"];

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), name, state: fc.constantFrom(...STATES) }),
  fc.record({ kind: fc.constant("delete" as const), name }),
  fc.record({ kind: fc.constantFrom("pack" as const, "unpack" as const) }),
);

test("every sequence of steps has the same results as with a map", () => {
  const property = fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
    const entries = new KnownEntries();
    const twin = new Map<string, string>();
    for (const one of steps) {
      if (one.kind === "set") {
        entries.set(one.name, one.state);
        twin.set(one.name, one.state);
      } else if (one.kind === "delete")
        expect(entries.delete(one.name)).toBe(twin.delete(one.name));
      else entries[one.kind]();
      for (const asked of NAMES) expect(entries.get(asked)).toBe(twin.get(asked));
      expect(entries.names().toSorted()).toEqual([...twin.keys()].toSorted());
    }
  });
  fc.assert(property, { numRuns: 300 });
});
