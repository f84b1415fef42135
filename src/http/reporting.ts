/** Reports a request to the host program and to the audit store, and records when its token was last used. */

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

/** Reports a finished request to the host program, with the function HandlerOptions.audit. */
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
    // a failure of the host program's function must not reach the caller
  }
}

/**
 * Adds a request to the audit store, but does not wait for the store. If the store fails, this is reported to the
 * host program as a failed request.
 */
export function record(settings: Settings, done: Done): void {
  const made = settings.audits && auditRecord(done, settings);
  if (made === undefined) return;
  const failed = { at: done.at, action: "recordAudit", status: STATUS.UNEXPECTED_ERROR };
  settings.audits?.append(made).catch((cause: unknown) => {
    audit(settings, failed, toRefusal(cause));
  });
}

const TOUCH_EVERY_MS = 60_000; // a write at every request would take longer than the rest of the request

/** Records when a token was last used, at most once a minute. */
export function touch({ tokens }: Settings, { identity: { token } }: Caller, at: Date): void {
  if (token === undefined || tokens?.touch === undefined) return;
  if (at.getTime() - (token.lastUsedAt?.getTime() ?? -Infinity) < TOUCH_EVERY_MS) return;
  void tokens.touch(token.id, at).catch(() => {}); // the time of last use is not essential
}
