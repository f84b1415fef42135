/**
 * Stands for `import.meta.url` in the package's CommonJS. tsup's own throws where there is no `__filename`, which is
 * so in CommonJS that was bundled to an ES module: before src/refuse-bundling.ts could say what to do.
 */

import { pathToFileURL } from "node:url";

const ownUrl = () =>
  typeof __filename === "undefined" ? undefined : pathToFileURL(__filename).href;

export const importMetaUrl = /* @__PURE__ */ ownUrl();
