/** Defines quern install. install.ts does the work, and is loaded only by this command. */

import { type Command, InvalidArgumentError } from "commander";
import { invalid } from "../base/errors.ts";
import { CLIENT_NAMES, type ClientName } from "./agent-clients.ts";
import { type Call, collect } from "./call.ts";
import type { InstallFlags } from "./install.ts";

const HELP = `
Clients: ${CLIENT_NAMES.join(", ")}.
Without a client, the files of all clients are listed. Restart a client after its file has changed.`;

export function addInstall(program: Command, { io }: Call): void {
  program
    .command("install")
    .summary("add quern to the configuration of coding agents")
    .description(
      "Add quern as a Model Context Protocol server to the configuration of coding agents.\n" +
        "Nothing else in their files changes, not even comments.",
    )
    .argument("[client...]", "clients, such as claude-code and cursor")
    .option("--path <path>", "folder to search; repeatable; default: the current one", collect)
    .option("--name <name>", "name of the server; default: quern", nameOfServer, "quern")
    .option("--command <words>", 'what clients start; default: this program; or "npx -y quern"')
    .option("--project", "write files of the current folder instead of the user's")
    .option("--agents-md", "also write into AGENTS.md when to use which tool")
    .option("--undo", "remove what was written")
    .option("--print", "print the entries and write nothing")
    .option("--dry-run", "print which files would change and write nothing")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (words: string[], flags: InstallFlags) => {
      const clients = words.map(clientNamed);
      const { install } = await import("./install.ts");
      await install(clients, flags, io);
    });
}

function clientNamed(word: string): ClientName {
  const known = CLIENT_NAMES.find((name) => name === word);
  if (known !== undefined) return known;
  throw invalid(`there is no client ${JSON.stringify(word)}; there are ${CLIENT_NAMES.join(", ")}`);
}

function nameOfServer(value: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new InvalidArgumentError("It must consist of letters, digits, - and _.");
}
