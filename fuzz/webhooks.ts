/**
 * Fuzzes deliveries of webhooks. A sender who does not know the secret must be refused, whatever the headers and the
 * body contain. A signed body must be about one repository, one connection or nothing. The folder of a repository id
 * must be inside the folder of sync. An input is a delivery as JSON, or a part of one.
 */

import { createHmac } from "node:crypto";
import { dirname } from "node:path";
import type { ConnectionType } from "../src/sync/config/config.ts";
import { basic } from "../src/sync/config/secrets.ts";
import { repositoryFolder } from "../src/sync/records.ts";
import { isGenuine, subjectOf, type Delivery } from "../src/sync/webhooks.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

interface Given {
  readonly type: ConnectionType;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the sender knows the secret. */
  readonly isSigned: boolean;
}

const TYPES = Object.keys({
  github: true,
  gitlab: true,
  gitea: true,
  bitbucket: true,
  azuredevops: true,
  gerrit: true,
  git: true,
  folder: true,
} satisfies Record<ConnectionType, true>) as ConnectionType[];
const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const SECRETS: Partial<Record<ConnectionType, string>> = {
  gitlab: `whsec_${KEY.toString("base64")}`,
};
const SECRET = "webhook-secret";
const NOW = 1_767_225_600_000;

/** The signatures for all hosts. Each host checks only its own. */
function proofs(type: ConnectionType, body: Buffer): Record<string, string> {
  const hex = createHmac("sha256", SECRET).update(body).digest("hex");
  const signed = createHmac("sha256", KEY)
    .update(`m1.${NOW / 1_000}.`)
    .update(body);
  return {
    "x-hub-signature-256": `sha256=${hex}`,
    "x-hub-signature": `sha256=${hex}`,
    "x-gitea-signature": hex,
    "webhook-id": "m1",
    "webhook-timestamp": String(NOW / 1_000),
    "webhook-signature": `v1,${signed.digest("base64")}`,
    ...(type === "azuredevops" && { authorization: basic("quern", SECRET) }),
  };
}

/** Counts the deliveries by what they were about. */
const about = { repository: 0, connection: 0, nothing: 0 };

export const webhooks: Target = {
  make,
  summary: () => `subjects: ${JSON.stringify(about)}`,
  async check(input) {
    const given = read(input);
    if (given === undefined) return;
    const { type, isSigned } = given;
    const body = Buffer.from(given.body, "latin1");
    const headers = new Headers(
      isSigned ? { ...given.headers, ...proofs(type, body) } : given.headers,
    );
    const delivery: Delivery = { headers, body };
    const secret = { secret: SECRETS[type] ?? SECRET, username: "quern" };
    const isSigning = !["gerrit", "git", "folder"].includes(type);
    const genuine = await isGenuine(type, delivery, secret, NOW);
    holds(genuine === (isSigned && isSigning), `${type}: genuine is ${genuine}`);
    const subject = await subjectOf(type, delivery);
    about[subject.kind]++;
    if (subject.kind !== "repository") return;
    holds(typeof subject.id === "string", "an id that is no text");
    holds(given.body.length > 0, "a repository of an empty body");
    const folder = repositoryFolder("/sync", 1, subject.id);
    holds(dirname(folder) === "/sync/1", `${subject.id} leads to ${folder}`);
  },
};

function read(input: Buffer): Given | undefined {
  try {
    const { type, headers, body, isSigned } = JSON.parse(input.toString()) as Given;
    new Headers(headers); // throws if no request could have this header
    if (!TYPES.includes(type) || typeof body !== "string") return undefined;
    return { type, headers, body, isSigned: isSigned === true };
  } catch {
    return undefined;
  }
}

const EVENTS = [
  "push",
  "push",
  "create",
  "delete",
  "repository",
  "ping",
  "repo:push",
  "repo:updated",
  "",
];
const IDS: readonly unknown[] = [
  7,
  "7",
  "..",
  "../../x",
  -1,
  1.5,
  null,
  {},
  [7],
  "\0",
  "a/b",
  "__proto__",
];

/** Usually the header or the body as the host itself sends it. */
function bodyOf(random: Random, type: ConnectionType): object {
  const id = pick(random, IDS);
  const uuid = pick(random, IDS);
  const event = pick(random, EVENTS);
  const bodies: object[] = [
    { ref: "refs/heads/main", repository: { id, uuid } },
    { object_kind: event, project_id: id },
    { event_name: `project_${event}`, project_id: id },
    { eventType: `git.${event}`, resource: { repository: { id } } },
    { repository: id },
    { toString: id, constructor: { repository: { id } } },
  ];
  const own = { gitlab: 1, azuredevops: 3 }[type as string] ?? 0;
  return random(3) === 0 ? pick(random, bodies) : bodies[own]!;
}

function make(random: Random): Buffer {
  const type = pick(random, TYPES);
  const text = Buffer.from(JSON.stringify(bodyOf(random, type)));
  const isForm = random(4) === 0;
  const sent = isForm ? Buffer.from(`payload=${encodeURIComponent(text.toString())}`) : text;
  const body = random(2) === 0 ? sent : mutate(random, sent, [text]);
  const event = pick(random, EVENTS);
  const headers = {
    "x-github-event": event,
    "x-gitea-event": event,
    "x-event-key": event,
    "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
    ...(random(3) === 0 && { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }),
    ...(random(3) === 0 && { "x-gitea-signature": "", "x-gitlab-token": "whsec_" }),
    ...(random(3) === 0 && { "webhook-id": "m1", "webhook-timestamp": String(NOW / 1_000) }),
  };
  const given: Given = { type, headers, body: body.toString("latin1"), isSigned: random(2) === 0 };
  return Buffer.from(JSON.stringify(given));
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;
