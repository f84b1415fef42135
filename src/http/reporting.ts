/** Reports a request to the host and the audit store, and records when its token was used. */

import type { Identity } from "../auth/principal.ts";
import { auditRecord, type Done } from "./audit-trail.ts";
import type { Caller } from "./gate.ts";
import type { AuditEvent, Settings } from "./options.ts";
import { STATUS, toRefusal, type Refusal } from "./refusal.ts";

/** Returns the fields of an AuditEvent that identify the caller. */
export function whoIs(identity: Identity | undefined): { userId?: string; tokenId?: string } {
  const { principal, token } = identity ?? {};
  const userId = principal?.user?.id ?? token?.ownerId;
  return {
    ...(userId !== undefined && { userId }),
    ...(token !== undefined && { tokenId: token.id }),
  };
}

/** Reports a finished request to the host. */
export function audit(
  settings: Settings,
  event: Omit<AuditEvent, "outcome">,
  refusal: Refusal | undefined,
): void {
  const { status } = event;
  const outcome = status < 400 ? "ok" : status === 401 || status === 403 ? "denied" : "failed";
  const detail = refusal?.code === "UNEXPECTED_ERROR" ? { detail: refusal.cause } : {};
  try {
    settings.audit?.({ ...event, outcome, ...detail });
  } catch {
    // a failure of the host's logging must not reach the caller
  }
}

/**
 * Adds a request to the audit store, without waiting for it. A failure of the store is reported as a request that
 * failed.
 */
export function record(settings: Settings, done: Done): void {
  const made = settings.audits && auditRecord(done, settings);
  if (made === undefined) return;
  const failed = { at: done.at, action: "recordAudit", status: STATUS.UNEXPECTED_ERROR };
  settings.audits?.append(made).catch((cause: unknown) => {
    audit(settings, failed, toRefusal(cause));
  });
}

const TOUCH_EVERY_MS = 60_000; // writing at every request would take longer than the rest of it

/** Records when a token was last used. */
export function touch({ tokens }: Settings, { identity: { token } }: Caller, at: Date): void {
  if (token === undefined || tokens?.touch === undefined) return;
  if (at.getTime() - (token.lastUsedAt?.getTime() ?? -Infinity) < TOUCH_EVERY_MS) return;
  void tokens.touch(token.id, at).catch(() => {}); // the time of last use is not essential
}
