/** Implements quern upgrade, which replaces an index of an older format version. */

import type { Command } from "commander";
import {
  type Call,
  type CommonFlags,
  type WaitFlags,
  withCommonOptions,
  withWait,
} from "./call.ts";

export function addUpgrade(program: Command, call: Call): void {
  withWait(withCommonOptions(program.command("upgrade")))
    .summary("index anew after an upgrade of quern with another index format")
    .description(
      "Replace an index of an older format version: index the same folders anew, and keep the keys, members and audit\n" +
        "records. Stop other processes that use the directory first. If the command is stopped, run it again.\n" +
        "Exits with 1 if a repository could not be indexed; the old index is kept then.",
    )
    .action(async (flags: CommonFlags & WaitFlags) => {
      const { upgrade } = await import("./upgrade.ts");
      await upgrade(flags, call);
    });
}
