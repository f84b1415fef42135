/**
 * A script: indexes a folder and searches it.
 *
 *     npx tsx examples/search.ts ~/projects/shop "retry lang:go"
 */

import { directory, open } from "quern";

const [, , path = ".", ...words] = process.argv;

const engine = await open("./.quern");
try {
  const [report] = await engine.index(directory(path));
  console.error(`${report?.added} new files, ${report?.unchanged} as they were`);

  const { files, stats, isSearchExhaustive } = await engine.search({
    query: words.join(" ") || "todo",
    matches: 100,
  });
  for (const { repository, fileName, chunks } of files)
    for (const { matchRanges, content } of chunks)
      console.log(
        `${repository}/${fileName.text}:${matchRanges[0]?.start.lineNumber}: ${content.trim()}`,
      );
  console.error(`${stats.totalMatchCount} matches in ${stats.fileCount} files`);
  if (!isSearchExhaustive) console.error("not all of them are shown");
} finally {
  await engine.close();
}
