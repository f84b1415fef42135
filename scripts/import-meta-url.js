/**
 * Stands for `import.meta.url` in the package's CommonJS. tsup's own takes a `#` in a folder's name for the end of
 * the path, and throws where there is no `__filename`: in CommonJS that was bundled to an ES module.
 */

import { pathToFileURL } from "node:url";

const ownUrl = () =>
  typeof __filename === "undefined" ? undefined : pathToFileURL(__filename).href;

export const importMetaUrl = /* @__PURE__ */ ownUrl();
