/**
 * Runs the benchmark. Without --corpus it is a quick check over the fixture repositories. With --corpus it measures
 * everything, and the peers that are found on this machine. It prints tables, and writes a record to bench/record/ and
 * the page. The exit code is 1 if a count differs from a peer's for no known reason, or if a stage could not be
 * measured. A missed budget does not change it.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCaller } from "./caller.ts";
import { clusterRun } from "./cluster-run.ts";
import { scoreFind } from "./find.ts";
import { fullRun, STAGES, type Stage } from "./full-run.ts";
import { writePage } from "./page.ts";
import { PEER_NAMES, type PeerName } from "./peer-names.ts";
import { buildPackage } from "./quern.ts";
import { newestRecords } from "./record.ts";
import { smoke } from "./smoke.ts";

const HELP = `npm run bench -- [--corpus PATH] [options]

  --corpus PATH    measure over this folder; absent: smoke, over corpus/: counts checked, means of a few runs
  --peers LIST     of ${PEER_NAMES.join(",")}; default: all that are on the PATH
  --queries FILE   default: bench/queries.json (smoke: bench/queries-smoke.json)
  --stages LIST    of ${STAGES.join(",")}; default: all
  --folder PATH    where indexes are made; default: a temporary folder, removed at the end
  --caller N       only who holds up the caller's thread, with N workers: a row for each operation
  --symbols        those with symbols too, which take minutes
  --cluster        only a cluster on this machine, over generated text
  --repositories N in its large catalog; default 100 000
  --find FOLDER    only score find() over the repositories in FOLDER; bench/find.ts says what it needs
  --page           only write docs/benchmarks.md again, from the records`;

const { values } = parseArgs({
  options: {
    corpus: { type: "string" },
    peers: { type: "string" },
    queries: { type: "string" },
    stages: { type: "string" },
    folder: { type: "string" },
    caller: { type: "string" },
    symbols: { type: "boolean" },
    cluster: { type: "boolean" },
    repositories: { type: "string", default: "100000" },
    find: { type: "string" },
    page: { type: "boolean" },
    help: { type: "boolean" },
  },
});

/** Returns the words that were given, or all words of the list if none were. */
function chosen<Word extends string>(given: string | undefined, all: readonly Word[]): Word[] {
  if (given === undefined) return [...all];
  const words = given.split(",").filter((word) => word !== "");
  const stranger = words.find((word) => !all.includes(word as Word));
  if (stranger !== undefined) throw new Error(`${stranger} is none of ${all.join(", ")}`);
  return words as Word[];
}

async function main(): Promise<boolean> {
  if (values.help) console.log(HELP);
  if (values.page) console.log(await writePage(newestRecords()));
  if (values.find !== undefined) await scoreFind(values.find, values.queries);
  if (values.help || values.page || values.find !== undefined) return true;
  const here = (file: string) => new URL(file, import.meta.url);
  if (values.cluster)
    return await inFolder(values.folder, (folder) =>
      clusterRun(folder, Number(values.repositories)),
    );
  if (!values.corpus) return await smoke(values.queries ?? here("queries-smoke.json"));
  const { corpus } = values;
  return await inFolder(values.folder, async (folder) => {
    if (values.caller !== undefined) {
      const workers = Number(values.caller);
      buildPackage();
      return await measureCaller({ corpus, folder, workers, withSymbols: values.symbols ?? false });
    }
    return await fullRun({
      corpus,
      folder,
      peers: chosen<PeerName>(values.peers, PEER_NAMES),
      stages: chosen<Stage>(values.stages, STAGES),
      queries: values.queries ?? here("queries.json"),
    });
  });
}

/** Calls `work` with a temporary folder, in `place` if it is given. */
async function inFolder(
  place: string | undefined,
  work: (folder: string) => Promise<boolean>,
): Promise<boolean> {
  const folder = mkdtempSync(join(place ?? tmpdir(), "quern-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = (await main()) ? 0 : 1;
