/**
 * Orders test files. vitest runs one project after the other and, in a fresh clone, the longest file of each first.
 * Files of one folder follow each other, because they import the same packages and may share a process. The files below
 * are short and take long: at the end, one of them would run while the other cores are idle.
 */

import { existsSync } from "node:fs";
import { dirname, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take ten times as long as others of their size. */
const SLOW = new Set(
  [
    "cli/compact",
    "cli/stopped",
    "cluster/everything",
    "cluster/hidden",
    "cluster/kills",
    "cluster/outages",
    "mcp/stdio",
    "package/package",
    "page/accessibility",
    "page/answers",
    "page/frames",
    "search/warm-up",
    "sync/every-host",
    "sync/hosts",
    "sync/many",
    "workspace/unheard",
    "workspace/workspace",
  ].map((name) => `test/${name}.test.ts`),
);

for (const path of SLOW) if (!existsSync(path)) throw new Error(`test/slow-first.ts: no ${path}`);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const restOf = ({ moduleId }: TestSpecification): number =>
      SLOW.has(relative(this.ctx.config.root, moduleId).replaceAll("\\", "/")) ? 0 : 1;
    return (await super.sort(files)).sort(
      (a, b) =>
        restOf(a) - restOf(b) ||
        compare(a.project.name, b.project.name) ||
        compare(dirname(a.moduleId), dirname(b.moduleId)),
    );
  }
}
