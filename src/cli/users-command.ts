/** Implements quern users, which manages the members, who may use the server of quern serve. */

import type { Command } from "commander";
import { isSuspended } from "../auth/principal.ts";
import type { User } from "../auth/user-store.ts";
import { QuernError } from "../base/errors.ts";
import {
  type Accounts,
  openAccounts,
  openExistingAccounts,
  withAccounts,
} from "./account-stores.ts";
import { type Call, type CommonFlags, oneOf, withCluster, withCommonOptions } from "./call.ts";
import { printJson, printLines } from "./io.ts";
import { table, visible } from "./style.ts";

interface AddFlags extends CommonFlags {
  name?: string;
  email?: string;
  role?: "owner" | "member";
}

export function addUsers(program: Command, call: Call): void {
  const users = program.command("users").summary("add, list, suspend and remove members");
  withCluster(withCommonOptions(users.command("add")))
    .summary("add a member, or change one")
    .description(
      "Add a member, or change one; this also reactivates a suspended member.\n" +
        "Once there is a member, only members' keys are accepted: create them with quern keys create --owner ID.",
    )
    .argument("<id>", "the owner of their keys")
    .option("--name <name>", "for people")
    .option("--email <address>", "shown to owners")
    .option(
      "--role <role>",
      "owner, member; default: owner for the first, else member",
      oneOf(["owner", "member"]),
    )
    .action((id: string, flags: AddFlags) =>
      withAccounts(openAccounts, flags, call.io.env, (accounts) => add(accounts, id, flags, call)),
    );
  withCluster(withCommonOptions(users.command("list")))
    .summary("list the members")
    .action((flags: CommonFlags) =>
      withAccounts(openExistingAccounts, flags, call.io.env, (accounts) =>
        list(accounts, flags, call),
      ),
    );
  withCluster(withCommonOptions(users.command("suspend")))
    .summary("suspend a member: their keys are rejected until they are added again")
    .argument("<id>")
    .action((id: string, flags: CommonFlags) =>
      withAccounts(openExistingAccounts, flags, call.io.env, (accounts) =>
        suspend(accounts, id, flags, call),
      ),
    );
  withCluster(withCommonOptions(users.command("remove")))
    .summary("remove a member and revoke their keys")
    .argument("<id>")
    .action((id: string, flags: CommonFlags) =>
      withAccounts(openExistingAccounts, flags, call.io.env, (accounts) =>
        remove(accounts, id, flags, call),
      ),
    );
}

async function add({ users }: Accounts, id: string, flags: AddFlags, call: Call): Promise<void> {
  const now = new Date();
  const before = await users.get(id);
  const isFirst = !(await hasActiveOwner(users, id));
  const role = flags.role?.toUpperCase() ?? before?.role ?? (isFirst ? "OWNER" : "MEMBER");
  if (isFirst && role !== "OWNER") throw needsOwner();
  const user: User = {
    id,
    name: flags.name ?? before?.name ?? null,
    email: flags.email ?? before?.email ?? "",
    role: role === "OWNER" ? "OWNER" : "MEMBER",
    suspendedAt: null,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    lastActivityAt: before?.lastActivityAt ?? null,
  };
  await users.put(user);
  if (flags.json) printJson(call.io, user);
  else printLines(call.io.stdout, table([rowOf(user)]));
}

async function list({ users }: Accounts, flags: CommonFlags, call: Call): Promise<void> {
  const all: User[] = [];
  for await (const user of users.list()) all.push(user);
  call.exit(all.length > 0 ? 0 : 1);
  if (flags.json) printJson(call.io, all);
  else printLines(call.io.stdout, table(all.map(rowOf)));
}

const rowOf = (user: User): string[] => [
  visible(user.id),
  user.role.toLowerCase(),
  user.suspendedAt ? `suspended ${user.suspendedAt.toISOString().slice(0, 10)}` : "active",
  visible(user.email),
  visible(user.name ?? ""),
];

async function suspend(
  { users }: Accounts,
  id: string,
  flags: CommonFlags,
  call: Call,
): Promise<void> {
  const user = await users.get(id);
  if (user && !(await hasActiveOwner(users, id))) throw needsOwner();
  const now = new Date();
  if (user) await users.put({ ...user, suspendedAt: user.suspendedAt ?? now, updatedAt: now });
  tell(call, flags, { id, suspended: user !== undefined });
}

async function remove(
  { users, tokens }: Accounts,
  id: string,
  flags: CommonFlags,
  call: Call,
): Promise<void> {
  const user = await users.get(id);
  if (user && !(await hasActiveOwner(users, id))) throw needsOwner();
  const removed = user !== undefined && (await users.remove?.(id)) === true;
  if (removed) for await (const token of tokens.list(id)) await tokens.revoke(token.id, new Date());
  tell(call, flags, { id, removed });
}

/** Whether the organization has an active owner other than `id`. */
async function hasActiveOwner(users: Accounts["users"], id: string): Promise<boolean> {
  for await (const user of users.list())
    if (user.id !== id && user.role === "OWNER" && !isSuspended(user)) return true;
  return false;
}

const needsOwner = (): QuernError =>
  new QuernError(
    "INVALID_REQUEST",
    "the organization needs another active owner: create one with quern users add ID --role owner",
  );

function tell(
  { io, exit }: Call,
  flags: CommonFlags,
  told: { id: string; suspended?: boolean; removed?: boolean },
): void {
  const { id, ...outcome } = told;
  const isDone = Object.values(outcome).includes(true);
  exit(isDone ? 0 : 1);
  if (flags.json) printJson(io, outcome);
  else if (!isDone) io.stderr.write(`quern: there is no member ${visible(id)}\n`);
}
