/**
 * Checks that a delivery of a webhook comes from the code host, and finds the repository that the delivery is about.
 * Each host authenticates its deliveries in its own way:
 *
 *     github       X-Hub-Signature-256   HMAC-SHA-256 of the body, sha256=HEX
 *     bitbucket    X-Hub-Signature       the same
 *     gitea        X-Gitea-Signature     the same without sha256=; Forgejo's header, too
 *     gitlab       webhook-signature     if the secret is a signing token, whsec_BASE64: HMAC of
 *                                        id.timestamp.body, at most five minutes old
 *                  X-Gitlab-Token        else: the secret itself
 *     azuredevops  Authorization         basic
 *
 * Other hosts do not sign deliveries, so quern rejects deliveries for them. A body is decoded only after its sender
 * was verified. Verifying and decoding yield to the event loop. Most signatures contain no time, so a delivery that
 * somebody sends again is accepted. The repeated delivery only causes the same work again, and service.ts limits how
 * often this happens.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { beyondJsonShape } from "../base/json-shape.ts";
import { newPause } from "../base/yield.ts";
import type { ConnectionType } from "./config/config.ts";
import { basic } from "./config/secrets.ts";
import { formField } from "./form-field.ts";

/** A delivery as received. */
export interface Delivery {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface WebhookSecret {
  readonly secret: string;
  /** The user name for basic authentication. */
  readonly username: string;
}

/**
 * The maximum difference between the time in a delivery and the local time. It allows for wrong clocks and slow
 * transmission.
 */
const OLDEST_MS = 300_000;

/**
 * Resolves to true if the delivery proves that its sender knows the secret. The kind of proof depends on the type of
 * the host.
 */
export async function isGenuine(
  type: ConnectionType,
  { headers, body }: Delivery,
  { secret, username }: WebhookSecret,
  now = Date.now(),
): Promise<boolean> {
  const hex = () => signatureOf([body], secret, "hex");
  const has = (name: string, expected: string): boolean =>
    isSame(headers.get(name) ?? "", expected);
  switch (type) {
    case "github":
      return has("x-hub-signature-256", `sha256=${await hex()}`);
    case "bitbucket":
      return has("x-hub-signature", `sha256=${await hex()}`);
    case "gitea": {
      const expected = await hex(); // computed only once, because the body may have 4 MiB
      return has("x-gitea-signature", expected) || has("x-forgejo-signature", expected);
    }
    case "gitlab":
      return secret.startsWith("whsec_")
        ? isSigned({ headers, body }, secret, now)
        : has("x-gitlab-token", secret);
    case "azuredevops":
      return has("authorization", basic(username, secret));
    case "gerrit":
    case "git":
    case "folder":
      return false;
  }
}

/** Checks a signature according to the Standard Webhooks specification. The header may contain several signatures. */
async function isSigned(
  { headers, body }: Delivery,
  secret: string,
  now: number,
): Promise<boolean> {
  const id = headers.get("webhook-id") ?? "";
  const time = headers.get("webhook-timestamp") ?? "";
  if (!/^\d{1,12}$/.test(time) || Math.abs(now - Number(time) * 1_000) > OLDEST_MS) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = await signatureOf([Buffer.from(`${id}.${time}.`), body], key, "base64");
  const given = (headers.get("webhook-signature") ?? "").split(" ").slice(0, 10);
  return given.some((one) => isSame(one, `v1,${mac}`));
}

const BYTES_A_STEP = 256 * 1024; // takes 0.2 to 1 ms

/** Resolves to the HMAC-SHA-256 of the concatenated parts. */
async function signatureOf(
  parts: readonly Uint8Array[],
  key: string | Buffer,
  encoding: "hex" | "base64",
): Promise<string> {
  const mac = createHmac("sha256", key);
  const pause = newPause();
  for (const part of parts)
    for (let from = 0; from < part.length; from += BYTES_A_STEP) {
      mac.update(part.subarray(from, from + BYTES_A_STEP));
      await pause();
    }
  return mac.digest(encoding);
}

/** Compares two texts in a time that does not depend on where they differ. */
function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

/** What a delivery is about. */
export type Subject =
  /** The references of a repository have changed. */
  | { readonly kind: "repository"; readonly id: string }
  /** A repository was created, renamed, moved or deleted, so the connection's list must be read again. */
  | { readonly kind: "connection" }
  | { readonly kind: "nothing" };

const id = z.union([z.string(), z.int()]).transform(String);
const withId = z.object({ id });
const NOTHING: Subject = { kind: "nothing" };
const CONNECTION: Subject = { kind: "connection" };

/**
 * Resolves to the subject of a delivery. The kind is "nothing" if the body cannot be read, or if it has more values
 * than a push can have. REQUIRES: isGenuine() accepted the delivery.
 */
export async function subjectOf(type: ConnectionType, delivery: Delivery): Promise<Subject> {
  const body = await jsonOf(delivery);
  const event = (name: string): string => delivery.headers.get(name) ?? "";
  switch (type) {
    case "github":
      return about(event("x-github-event"), body, "repository");
    case "gitea":
      return about(event("x-gitea-event") || event("x-forgejo-event"), body, "repository");
    case "gitlab":
      return aboutGitLab(body);
    case "bitbucket": {
      const key = event("x-event-key");
      if (key === "repo:push")
        return repository(
          z.object({ repository: z.object({ uuid: id }) }).safeParse(body).data?.repository.uuid,
        );
      return key.startsWith("repo:") && /:(updated|transfer|deleted|created|imported)$/.test(key)
        ? CONNECTION
        : NOTHING;
    }
    case "azuredevops": {
      const form = z.object({ eventType: z.string(), resource: z.object({ repository: withId }) });
      const { eventType = "", resource } = form.safeParse(body).data ?? {};
      if (eventType === "git.push") return repository(resource?.repository.id);
      return eventType.startsWith("git.repo.") ? CONNECTION : NOTHING;
    }
    case "gerrit":
    case "git":
    case "folder":
      return NOTHING;
  }
}

const repository = (found: string | undefined): Subject =>
  found === undefined ? NOTHING : { kind: "repository", id: found };

function about(event: string, body: unknown, field: string): Subject {
  if (["push", "create", "delete"].includes(event))
    return repository(z.object({ [field]: withId }).safeParse(body).data?.[field]?.id);
  return ["repository", "public"].includes(event) ? CONNECTION : NOTHING;
}

/**
 * Returns the subject of a delivery from GitLab. Webhooks of projects and groups name the event in object_kind.
 * Webhooks of a whole instance name it in event_name.
 */
function aboutGitLab(body: unknown): Subject {
  const form = z.object({
    object_kind: z.string().optional(),
    event_name: z.string().optional(),
    project_id: id.optional(),
  });
  const { object_kind, event_name = "", project_id } = form.safeParse(body).data ?? {};
  const event = object_kind ?? event_name;
  if (["push", "tag_push", "repository_update"].includes(event)) return repository(project_id);
  return event_name.startsWith("project_") ? CONNECTION : NOTHING;
}

/**
 * The maximum number of lists, objects and fields in a body. A push of 2 000 commits has about 60 000. Without this
 * limit, parsing 4 MiB of nested lists took 0.6 s.
 */
const MOST_VALUES = 100_000;

/** Parses the body. If the body is a form, parses its field `payload`, because GitHub sends forms by default. */
async function jsonOf({ headers, body }: Delivery): Promise<unknown> {
  const pause = newPause();
  const isForm = headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");
  const json = isForm === true ? await formField(body, "payload", pause) : body;
  if (await beyondJsonShape(json, { pause, mostValues: MOST_VALUES })) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(json); // fatal, because replacing invalid bytes takes 17 ms for 4 MiB
    await pause();
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
