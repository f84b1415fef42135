/**
 * Replaces `import.meta.url` in the CommonJS files of the package. tsup's own replacement throws if there is no
 * `__filename`, for instance in CommonJS that was bundled to an ES module. It would throw before src/refuse-bundling.ts
 * can say what to do.
 */

import { pathToFileURL } from "node:url";

const ownUrl = () =>
  typeof __filename === "undefined" ? undefined : pathToFileURL(__filename).href;

export const importMetaUrl = /* @__PURE__ */ ownUrl();
