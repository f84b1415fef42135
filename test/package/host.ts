/** A script that uses all three entries of the package, for both module systems, and its output. */

export type ModuleSystem = "module" | "commonjs";

const HOST = `
async function main() {
  const engine = await open("./index", { workers: 2 });
  const content = "export const needle = (x) => x;\\n";
  const [report] = await engine.index(documents({ name: "shop", files: [{ path: "a.ts", content }] }));
  const { stats } = await engine.search({ query: "needle", matches: 10 });
  const handler = createHandler(engine, { anonymous: "all" });
  const ask = (query) =>
    handler(new Request("http://x/api/search", { method: "POST", body: JSON.stringify({ query, matches: 1 }) }));
  const [good, bad] = [await ask("needle"), await ask("a or or b")];
  const error = await engine.search({ query: "", matches: 1 }).catch((thrown) => thrown);
  await engine.close();
  console.log(
    JSON.stringify({
      added: report.added,
      found: stats.totalMatchCount,
      statuses: [good.status, bad.status],
      isOurs: error instanceof QuernError && error.code,
      cluster: typeof postgresTokenStore,
      sync: typeof syncConnections,
      suite: typeof tokenStoreSuite,
    }),
  );
}
main();
`;

const NAMES = {
  quern: "QuernError, documents, open",
  "quern/cluster": "postgresTokenStore",
  "quern/http": "createHandler",
  "quern/sync": "syncConnections",
  "quern/testing": "tokenStoreSuite",
};

const imports = Object.entries(NAMES).map(([name, names]) => `import { ${names} } from "${name}";`);
const requires = Object.entries(NAMES).map(
  ([name, names]) => `const { ${names} } = require("${name}");`,
);

export const hostScript = (type: ModuleSystem): { file: string; text: string } =>
  type === "module"
    ? { file: "host.mjs", text: imports.join("\n") + HOST }
    : { file: "host.cjs", text: requires.join("\n") + HOST };

/** What the script prints on stdout, as JSON. */
export const FOUND = {
  added: 1,
  found: 1,
  statuses: [200, 400],
  isOurs: "QUERY_SYNTAX",
  cluster: "function",
  sync: "function",
  suite: "function",
};
