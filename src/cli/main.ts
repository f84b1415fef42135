/** Implements the program `quern`. Parses the arguments, runs a command, and returns the exit code. */

import { Command, CommanderError } from "commander";
import type { Call } from "./call.ts";
import { addCluster } from "./cluster-command.ts";
import { addCompletion } from "./completion-command.ts";
import { findDataDirectory, findDirectoryOfPaths } from "./data-directory.ts";
import { applyDefaults } from "./defaults.ts";
import { QuernError } from "../base/errors.ts";
import { describeError, STOPPED_WORDS } from "./errors.ts";
import { addExplain } from "./explain-command.ts";
import { addFind } from "./find-command.ts";
import { addIndex } from "./index-command.ts";
import type { ExitCode, Io } from "./io.ts";
import { addInstall } from "./install-command.ts";
import { addLog } from "./log-command.ts";
import { addMcp } from "./mcp-command.ts";
import { addKeys } from "./keys-command.ts";
import { addRead, addRemove, addRepositories } from "./repository-commands.ts";
import { addSearch } from "./search-command.ts";
import { addServe } from "./serve-command.ts";
import { addSync } from "./sync-command.ts";
import { addUpgrade } from "./upgrade-command.ts";
import { addBackup, addCheck, addCompact } from "./upkeep-commands.ts";
import { addUses } from "./uses-command.ts";
import { addUsers } from "./users-command.ts";
import { optionsFirst } from "./words.ts";
import { VERSION } from "../base/version.ts";

const COMMANDS = [
  addIndex,
  addSearch,
  addFind,
  addUses,
  addLog,
  addSync,
  addServe,
  addCluster,
  addInstall,
  addMcp,
  addRepositories,
  addRead,
  addExplain,
  addRemove,
  addBackup,
  addCheck,
  addCompact,
  addUpgrade,
  addKeys,
  addUsers,
  addCompletion,
];

/** The exit code that shells use for a process that SIGINT has ended. */
export const STOPPED = 130;

/**
 * Runs a command, and resolves to its exit code. The code is 0 if something was found or done. It is 1 if nothing was
 * found, if `check` found damage, or if a part of the work failed. It is 2 after an error, which is printed on stderr.
 * It is 130 if the user stopped the command.
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode | 2 | 130> {
  let code: ExitCode = 0;
  const call: Call = { io, exit: (given) => (code = given) };
  try {
    const program = commandLine(call);
    await program.parseAsync(argumentsFor(program, argv), { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (io.signal.aborted && error instanceof QuernError && error.code === "ABORTED") {
      io.stderr.write(STOPPED_WORDS);
      return STOPPED;
    }
    io.stderr.write(describeError(error));
    return 2;
  }
}

/**
 * Returns the arguments for the program. If the command takes a query, puts the words of the query last, because they
 * may begin with a dash.
 */
function argumentsFor(program: Command, [name = "", ...rest]: readonly string[]): string[] {
  const command = program.commands.find((one) => one.name() === name);
  const takesQuery = command?.registeredArguments.some((argument) => argument.name() === "query");
  if (!command || !takesQuery) return name === "" ? rest : [name, ...rest];
  return [name, ...optionsFirst(command, rest)];
}

function commandLine(call: Call): Command {
  const { stdout, stderr } = call.io;
  const program = new Command("quern")
    .description("Code search: index repositories into a directory, and search it.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns || 100,
      getErrHelpWidth: () => stderr.columns || 100,
      outputError: (text, write) => write(text.replace(/^error: /, "quern: ")),
    })
    .showHelpAfterError("  quern help COMMAND lists its options");
  program.hook("preAction", async (_, command) => {
    const db = await applyDefaults(command);
    const takesDirectory = command.options.some(({ long }) => long === "--db");
    if (!takesDirectory || command.getOptionValue("db") !== undefined) return;
    const { env } = call.io;
    const followed = command.name() === "mcp" ? command.args : [];
    const found =
      followed.length > 0 ? findDirectoryOfPaths(followed, env, db) : findDataDirectory(env, db);
    command.setOptionValue("db", found);
  });
  for (const add of COMMANDS) add(program, call);
  return program;
}
