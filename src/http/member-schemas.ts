/** Defines the JSON of members and audit records. */

import { z } from "@hono/zod-openapi";
import { digits } from "./schemas.ts";

const date = (description: string) => z.iso.datetime().openapi({ description });
const nullableDate = (description: string) => date(description).nullable();

export const user = z
  .object({
    id: z.string(),
    name: z.string().nullable(),
    email: z.string(),
    role: z.enum(["OWNER", "MEMBER"]),
    suspendedAt: nullableDate("When the user was suspended."),
    createdAt: date("When the user became a member."),
    updatedAt: date("When this record last changed."),
    lastActivityAt: nullableDate("Null: never."),
  })
  .openapi("User");

export const userList = z.array(user);

export const userQuery = z.object({
  userId: z.string().min(1).openapi({ description: "The id, from the list of members." }),
});

export const removedUser = z
  .object({ success: z.boolean(), message: z.string() })
  .openapi("RemovedUser");

const moment = (description: string) =>
  z
    .union(
      [z.iso.datetime({ offset: true }), z.iso.date()],
      "must be an ISO 8601 date, such as 2025-01-31",
    )
    .transform((text) => new Date(text))
    .optional()
    .openapi({ type: "string", anyOf: [{ format: "date-time" }, { format: "date" }], description });

export const auditQuery = z.object({
  since: moment("The first moment of the period, in ISO 8601. Default: no bound."),
  until: moment("The last moment of the period, in ISO 8601. Default: no bound."),
  page: digits(1, 999_999_999),
  perPage: digits(50, 100),
});

const auditRecord = z
  .object({
    id: z.string(),
    timestamp: date("When it happened."),
    action: z.string().openapi({ example: "search.performed" }),
    actorId: z
      .string()
      .openapi({ description: "The id of the user. Empty for an anonymous caller." }),
    actorType: z.string().openapi({ example: "api_key" }),
    targetId: z.string().openapi({ description: "Empty if the action has no single target." }),
    targetType: z.string().openapi({ example: "repository" }),
    version: z
      .string()
      .openapi({ description: "The version of the service that wrote the record." }),
    metadata: z.unknown().openapi({ description: "More details." }),
  })
  .openapi("AuditRecord");

export const auditList = z.array(auditRecord);
