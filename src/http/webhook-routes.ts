/** Receives webhooks, which code hosts send when a repository changes. */

import { z } from "@hono/zod-openapi";
import { readBody } from "./body.ts";
import { notAuthenticated } from "./refusal.ts";
import { jsonResponse } from "./json-body.ts";
import type { HandlerOptions } from "./options.ts";
import { plain, type Route } from "./route.ts";

/**
 * The maximum number of bytes in a delivery. The delivery for a push of 2 000 commits has half of this. A longer
 * delivery is rejected. The next run of sync updates the repository anyway.
 */
const MOST_BYTES = 4 << 20;

const outcome = z.object({ status: z.enum(["queued", "ignored"]) }).openapi("WebhookOutcome");
const webhookPath = z.object({ connection: z.string() });

export function webhookRoutes(webhook: NonNullable<HandlerOptions["webhook"]>): Route[] {
  return [
    plain(
      {
        method: "post",
        path: "/api/webhook/{connection}",
        action: "receiveWebhook",
        tag: "Connections",
        summary: "Report that a repository has changed",
        description:
          "For the webhooks of code hosts, whose own signatures are the credential. The repository is synced soon.",
        access: "signed",
        params: webhookPath,
        answers: {
          status: 202,
          description: "The repository is queued, or the event concerns no repository here",
          schema: outcome,
        },
        refusals: ["NOT_AUTHENTICATED", "BODY_TOO_LARGE"],
      },
      async ({ request, id }) => {
        const body = await readBody(request, MOST_BYTES);
        const status = await webhook(id, { headers: request.headers, body });
        // the response is the same if the connection is unknown, if it accepts no webhooks, and if the signature is
        // wrong
        if (status === "refused") throw notAuthenticated();
        return jsonResponse({ status }, { status: 202 });
      },
    ),
  ];
}
