/** Lists the targets by name. Each is loaded only when it is needed, because some of them open an engine. */

import type { Target } from "./target.ts";

export const TARGETS = {
  query: async () => (await import("./query.ts")).query,
  regex: async () => (await import("./regex.ts")).regex,
  postings: async () => (await import("./postings.ts")).postings,
  segment: async () => (await import("./segment.ts")).openSegmentTarget(),
  "git-objects": async () => (await import("./git-objects.ts")).gitObjects,
  "git-trees": async () => (await import("./git-trees.ts")).gitTrees,
  "git-refs": async () => (await import("./git-refs.ts")).openGitRefsTarget(),
  mcp: async () => (await import("./mcp.ts")).openMcpTarget(),
  http: async () => (await import("./http.ts")).openHttpTarget(),
  symbols: async (folders?: readonly string[]) =>
    (await import("./symbols.ts")).openSymbolsTarget(folders),
  cursors: async () => (await import("./cursors.ts")).openCursorsTarget(),
  overlays: async () => (await import("./overlays.ts")).openOverlaysTarget(),
  webhooks: async () => (await import("./webhooks.ts")).webhooks,
  "segment-objects": async () => (await import("./segment-objects.ts")).openSegmentObjectsTarget(),
  workspace: async () => (await import("./workspace.ts")).openWorkspaceTarget(),
} satisfies Record<string, (folders?: readonly string[]) => Promise<Target>>;

export type TargetName = keyof typeof TARGETS;

export const TARGET_NAMES = Object.keys(TARGETS) as TargetName[];
