/** Implements quern check, compact and backup. */

import type { Command } from "commander";
import type { CheckReport } from "../store/upkeep/check.ts";
import {
  type Call,
  type CommonFlags,
  lockOptions,
  type WaitFlags,
  withCommonOptions,
  withWait,
} from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { progressLine } from "./progress.ts";
import { bytes, count, duration, visible } from "./style.ts";

export function addCheck(program: Command, call: Call): void {
  const { io } = call;
  withCommonOptions(program.command("check"))
    .summary("check the index for damage")
    .description("Read and verify the whole index. Exits with 1 if something is damaged.")
    .action((flags: CommonFlags) =>
      withEngine(io, { db: flags.db, readOnly: true }, async (engine) => {
        const report = await engine.check({ signal: io.signal });
        if (flags.json) printJson(io, report);
        else printLines(io.stdout, showReport(report));
        call.exit(report.ok ? 0 : 1);
      }),
    );
}

function showReport({ ok, segments, files, bytes: size, problems }: CheckReport): string[] {
  const held = `${count(segments, "segment")}, ${count(files, "file")}, ${bytes(size)}`;
  return [
    ...problems.map(({ segment, repository, message }) =>
      [
        ...(segment === undefined ? [] : [`segment ${segment}`]),
        ...(repository === undefined ? [] : [visible(repository)]),
        message,
      ].join(": "),
    ),
    ok ? `no damage: ${held}` : `${count(problems.length, "problem")} in ${held}`,
  ];
}

interface BackupFlags extends CommonFlags, WaitFlags {
  base?: string;
}

export function addBackup(program: Command, call: Call): void {
  const { io } = call;
  withWait(withCommonOptions(program.command("backup")))
    .summary("copy the data directory while it is in use")
    .description(
      "Copy the index, keys, members and audit records to a new folder, and verify the copy.\n" +
        "Searches continue, other writes wait. To restore, stop quern, and put the folder in place.",
    )
    .argument("<folder>", "new folder; it becomes a data directory")
    .option("--base <folder>", "earlier backup on the same disk; equal text becomes hard links")
    .action(async (folder: string, flags: BackupFlags) => {
      const { db, base } = flags;
      const report = await withEngine(io, { db, workers: 0, ...lockOptions(flags) }, (engine) =>
        engine.backup(folder, { ...(base !== undefined && { base }), signal: io.signal }),
      );
      if (flags.json) printJson(io, report);
      else
        printLines(io.stdout, [
          `${visible(folder)}: ${bytes(report.bytes)}, verified` +
            (base === undefined
              ? ""
              : `, ${bytes(report.linkedBytes)} of it shared with the base`) +
            `, ${duration(report.durationMs)}`,
        ]);
    });
}

export function addCompact(program: Command, call: Call): void {
  const { io } = call;
  withWait(withCommonOptions(program.command("compact")))
    .summary("merge segments and free unused space")
    .action(async (flags: CommonFlags & WaitFlags) => {
      const progress = progressLine(io);
      const { onProgress } = progress;
      const report = await withEngine(io, { db: flags.db, ...lockOptions(flags) }, (engine) =>
        engine.compact({ signal: io.signal, onProgress }),
      ).finally(() => progress.clear());
      const { segmentsBefore, segmentsAfter, bytesFreed, durationMs } = report;
      if (flags.json) printJson(io, report);
      else
        printLines(io.stdout, [
          `${count(segmentsBefore, "segment")} became ${segmentsAfter}, ${bytes(bytesFreed)} freed, ${duration(durationMs)}`,
        ]);
    });
}
