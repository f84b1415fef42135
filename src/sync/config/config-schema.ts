/**
 * Defines the schema of a configuration. Configuration files are checked against this schema, and the published JSON
 * schema is generated from it. Unknown fields are rejected. Otherwise, a misspelt `exclude` would have no effect, and
 * repositories would be indexed that should be left out.
 */

import { z } from "zod";
import { isPlainAddress } from "./addresses.ts";
import { CONNECTION_NAME, milliseconds, type SyncConfig } from "./config.ts";

const maybe = z.exactOptional;

const duration = z
  .string()
  .regex(/^\d{1,6}(s|m|h|d)$/, "must be a number with s, m, h or d, such as '10m'");
const pause = duration.refine((text) => milliseconds(text) !== 0, "must be more than 0");
const word = z.string().min(1, "must not be empty");
const patterns = z.array(word);

const address = z
  .string()
  .refine(
    (text) => /^https?:\/\//i.test(text) && isPlainAddress(text),
    "must be an http or https address without user name, password, query or fragment",
  );
const remote = z
  .string()
  .refine(isPlainAddress, "must be an address that git can fetch from, without a password in it");

/**
 * Returns the schema of a list of paths. Each path has from `parts` to `most` names, which are separated by slashes.
 * `form` is an example for the error message.
 */
const path = (parts: number, form: string, most = parts) =>
  z.array(
    word.refine((text) => {
      const names = text.split("/");
      const isName = (name: string) => name !== "" && !/^\.\.?$|[\p{Cc}?#\\]/u.test(name);
      return names.length >= parts && names.length <= most && names.every(isName);
    }, `must look like ${form}`),
  );
const name = path(1, "the host shows it in addresses: one name without a slash");
const pair = path(2, "'acme/shop'");

/**
 * The schema of a secret. The configuration contains only the name of an environment variable, which holds the
 * secret.
 */
export const secret = z.strictObject(
  {
    env: z.string().regex(
      /^(?!gh[oprsu]_|github_pat_)[A-Za-z_]\w*$/, // GitHub's tokens could be names of variables
      "must be the name of an environment variable; the secret itself must not be in the file",
    ),
  },
  {
    error:
      'must be { "env": "NAME" }, with the name of an environment variable; the secret itself must not be in the file',
  },
);

const template = word.refine((text) => {
  const used = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, one]) => one);
  const isKnown = used.every((one) => one === "host" || one === "path" || one === "name");
  return isKnown && !/[{}]/.test(text.replace(/\{\w+\}/g, "")) && /\{(path|name)\}/.test(text);
}, "must contain {path} or {name}, and no other braces except {host}");

const history = z.union(
  [
    z.boolean(),
    z.strictObject({
      since: maybe(z.string().refine((text) => Number.isFinite(Date.parse(text)))),
      commits: maybe(z.int().min(1)),
    }),
  ],
  'must be true, false, or limits such as {"since": "2024-01-01", "commits": 10000}',
);

const common = {
  token: maybe(secret),
  username: maybe(word.regex(/^[^\p{Cc}:]+$/u, "must not contain colons or control characters")),
  name: maybe(template),
  public: maybe(z.boolean()),
  include: maybe(z.strictObject({ names: maybe(patterns), topics: maybe(patterns) })),
  exclude: maybe(
    z.strictObject({
      names: maybe(patterns),
      topics: maybe(patterns),
      archived: maybe(z.boolean()),
      forks: maybe(z.boolean()),
      largerThanMB: maybe(z.number().positive("must be more than 0")),
    }),
  ),
  branches: maybe(patterns),
  tags: maybe(patterns),
  history: maybe(history),
  webhook: maybe(z.strictObject({ secret, username: maybe(word) })),
};

const connection = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("github"),
    url: maybe(address),
    api: maybe(address),
    orgs: maybe(name),
    users: maybe(name),
    repos: maybe(pair),
    ...common,
  }),
  z.strictObject({
    type: z.literal("gitlab"),
    url: maybe(address),
    groups: maybe(path(1, "'acme' or 'acme/tools'", 20)),
    users: maybe(name),
    repos: maybe(path(2, "'acme/shop' or 'acme/tools/shop'", 21)),
    all: maybe(z.boolean()),
    ...common,
  }),
  z.strictObject({
    type: z.literal("gitea"),
    url: address,
    orgs: maybe(name),
    users: maybe(name),
    repos: maybe(pair),
    all: maybe(z.boolean()),
    ...common,
  }),
  z.strictObject({
    type: z.literal("bitbucket"),
    url: maybe(address),
    api: maybe(address),
    workspaces: maybe(name),
    repos: maybe(pair),
    ...common,
  }),
  z.strictObject({
    type: z.literal("azuredevops"),
    url: maybe(address),
    orgs: maybe(name),
    projects: maybe(pair),
    repos: maybe(path(3, "'acme/shop/backend'")),
    ...common,
  }),
  z.strictObject({
    type: z.literal("gerrit"),
    url: address,
    repos: maybe(path(1, "'tools/shop'", 20)),
    ...common,
  }),
  z.strictObject({
    type: z.literal("git"),
    urls: z.array(remote).min(1, "must contain at least one address"),
    ...common,
  }),
  z.strictObject({
    type: z.literal("folder"),
    path: word,
    depth: maybe(z.int().min(1, "must be from 1 to 10").max(10, "must be from 1 to 10")),
    ...common,
  }),
]);

const SCOPES = ["orgs", "users", "groups", "workspaces", "projects", "repos"] as const;

/**
 * The schema of a connection that lists something. Gerrit may do without lists, because it lists all projects by
 * default.
 */
const listed = connection.superRefine((value, context) => {
  if (value.type === "gerrit" && value.token !== undefined && value.username === undefined)
    context.addIssue({ code: "custom", message: "a token of Gerrit needs a username" });
  if (value.type === "git" || value.type === "folder" || value.type === "gerrit") return;
  const given: Readonly<Record<string, unknown>> = value;
  if (given["all"] === true || SCOPES.some((scope) => hasEntries(given[scope]))) return;
  const form = FORMS[value.type] ?? {};
  const known = SCOPES.filter((scope) => scope in form);
  const all = "all" in form ? ", or all: true" : "";
  context.addIssue({
    code: "custom",
    message: `must have at least one entry in ${known.join(", ")}${all}`,
  });
});

const hasEntries = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** The fields of each type of connection. */
const FORMS = Object.fromEntries(
  connection.options.map((option) => [option.shape.type.value, option.shape]),
) as unknown as Readonly<Record<string, object>>;

/** The schema of the value of a command-line option. */
const setting = z.union(
  [z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))],
  "must be a string, a number, true, false, or a list of strings and numbers",
);

export const CONFIG_SCHEMA: z.ZodType<SyncConfig> = z.strictObject({
  $schema: maybe(z.string()),
  db: maybe(z.string()),
  command: maybe(z.record(z.string(), z.record(z.string(), setting))),
  connections: z.record(
    z
      .string()
      .regex(CONNECTION_NAME, "a name must be up to 64 letters, digits, dots, dashes, underscores"),
    listed,
  ),
  sync: maybe(
    z.strictObject({
      every: maybe(pause),
      parallel: maybe(z.int().min(1, "must be from 1 to 64").max(64, "must be from 1 to 64")),
      removeAfter: maybe(duration),
      stallTimeout: maybe(pause),
    }),
  ),
});

/**
 * Returns the JSON schema of a configuration, which the package publishes as quern.schema.json.
 *
 * @example
 * const text = JSON.stringify(syncConfigSchema(), null, 2);
 */
export function syncConfigSchema(): object {
  return {
    title: "A configuration of quern sync",
    ...z.toJSONSchema(CONFIG_SCHEMA, { target: "draft-7", io: "input" }),
  };
}
