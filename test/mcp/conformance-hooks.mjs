/** Lets Node 20 load the conformance suite, which imports `globSync` of `fs`. No server scenario calls that. */

import fs from "node:fs";
import { register } from "node:module";

const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

const FS = `export * from "node:fs";
export { default } from "node:fs";
export const globSync = undefined;`;

const HOOKS = `export const resolve = (name, context, next) =>
  name === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
    ? { url: ${JSON.stringify(moduleOf(FS))}, shortCircuit: true }
    : next(name, context);`;

if (fs.globSync === undefined) register(moduleOf(HOOKS));
