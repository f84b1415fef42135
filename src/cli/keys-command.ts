/**
 * Implements quern keys, which manages the API keys for quern serve. The keys are stored in the data directory, or in
 * the database of a cluster.
 */

import type { Command } from "commander";
import { QuernError } from "../base/errors.ts";
import type { TokenRecord, TokenStore } from "../auth/token-store.ts";
import {
  type Accounts,
  hasUsers,
  openAccounts,
  openExistingAccounts,
  withAccounts,
} from "./account-stores.ts";
import { type Call, type CommonFlags, date, withCluster, withCommonOptions } from "./call.ts";
import { printJson, printLines } from "./io.ts";
import { table, visible } from "./style.ts";

interface KeyFlags extends CommonFlags {
  owner: string;
}

interface ListFlags extends CommonFlags {
  owner?: string;
}

/** The owner of a key if --owner is not given. Somebody who uses quern alone needs no names of owners. */
const DEFAULT_OWNER = "local";

export function addKeys(program: Command, call: Call): void {
  const keys = program.command("keys").summary("create, list and revoke API keys");
  withOwner(withCluster(withCommonOptions(keys.command("create"))))
    .summary("create an API key and print its secret")
    .option("--name <name>", "a name for the key")
    .option("--expires <date>", "expiry date; default: never", date)
    .action((flags: KeyFlags & { name?: string; expires?: Date }) =>
      withAccounts(openAccounts, flags, call.io.env, (accounts) => create(accounts, flags, call)),
    );
  withCluster(withCommonOptions(keys.command("list")))
    .summary("list keys")
    .option("--owner <id>", "only the keys of this owner; default: of local and of all members")
    .action((flags: ListFlags) =>
      withAccounts(openExistingAccounts, flags, call.io.env, (accounts) =>
        list(accounts, flags, call),
      ),
    );
  withCluster(withCommonOptions(keys.command("revoke")))
    .summary("revoke a key immediately")
    .argument("<id>", "the id that keys list prints, not the secret")
    .action((id: string, flags: CommonFlags) =>
      withAccounts(openExistingAccounts, flags, call.io.env, ({ tokens }) =>
        revoke(tokens, id, flags, call),
      ),
    );
}

const withOwner = (command: Command): Command =>
  command.option("--owner <id>", "owner of the key", DEFAULT_OWNER);

async function create(
  { tokens, users }: Accounts,
  { owner, name, expires, json }: KeyFlags & { name?: string; expires?: Date },
  { io }: Call,
): Promise<void> {
  if ((await hasUsers(users)) && (await users.get(owner)) === undefined)
    throw new QuernError(
      "INVALID_REQUEST",
      `there is no member ${JSON.stringify(owner)}, so the key would not work: create the member with quern users add`,
    );
  const { createApiKey } = await import("../auth/secrets.ts");
  const key = await createApiKey(tokens, {
    ownerId: owner,
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expiresAt: expires }),
  });
  if (json) return printJson(io, key);
  io.stdout.write(`${key.secret}\n`);
  if (io.stderr.isTTY)
    io.stderr.write(
      `quern: key ${key.id}; its secret is stored nowhere and cannot be shown again\n`,
    );
}

async function list({ tokens, users }: Accounts, flags: ListFlags, call: Call): Promise<void> {
  const owners = flags.owner === undefined ? [DEFAULT_OWNER] : [flags.owner];
  if (flags.owner === undefined) for await (const { id } of users.list()) owners.push(id);
  const keys: TokenRecord[] = [];
  for (const owner of new Set(owners))
    for await (const record of tokens.list(owner)) if (record.kind === "api-key") keys.push(record);
  call.exit(keys.length > 0 ? 0 : 1);
  if (flags.json)
    printJson(
      call.io,
      keys.map((key) => ({ ...key, hash: undefined })),
    );
  else printLines(call.io.stdout, table(keys.map(rowOf)));
}

function rowOf(record: TokenRecord): string[] {
  const { id, ownerId, name, createdAt, expiresAt, revokedAt, lastUsedAt } = record;
  const day = (at: Date): string => at.toISOString().slice(0, 10);
  const state = revokedAt
    ? `revoked ${day(revokedAt)}`
    : expiresAt
      ? `${expiresAt.getTime() <= Date.now() ? "expired" : "expires"} ${day(expiresAt)}`
      : "valid";
  const used = lastUsedAt ? `used ${day(lastUsedAt)}` : "never used";
  return [id, visible(ownerId), `created ${day(createdAt)}`, state, used, visible(name ?? "")];
}

async function revoke(
  tokens: TokenStore,
  id: string,
  flags: CommonFlags,
  { io, exit }: Call,
): Promise<void> {
  const revoked = await tokens.revoke(id, new Date());
  exit(revoked ? 0 : 1);
  if (flags.json) printJson(io, { revoked });
  else if (!revoked) io.stderr.write(`quern: ${visible(id)} is not the id of an active key\n`);
}
