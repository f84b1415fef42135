/** A process that finds the symbols that a directory lacks, and is killed when this many blobs are done. */

import { open } from "../../src/opened-engine.ts";

const [path, most] = process.argv.slice(2);
const engine = await open(path!, { workers: 0 });
await engine.index([], {
  onProgress: ({ stage, done }) => {
    if (stage === "symbols" && done >= Number(most)) process.kill(process.pid, "SIGKILL");
  },
});
