/**
 * Handles secrets. They come from the environment, and are used only in headers of requests and in the environment of
 * git. Every message passes through redact(), because a host may repeat in an error what it was sent.
 */

import { QuernError } from "../../base/errors.ts";
import type { SecretFromEnvironment } from "./config.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads a secret. Throws INVALID_REQUEST if the variable is not set, or if its value cannot be used in a header. */
export function readSecret(secret: SecretFromEnvironment, env: Variables, whose: string): string {
  const value = env[secret.env]?.trim() ?? "";
  if (value === "")
    throw invalid(`${whose}: the environment has no ${secret.env}; set it to the secret`);
  if (!/^[\x21-\x7e]+$/.test(value))
    throw invalid(`${whose}: ${secret.env} must hold visible ASCII characters without spaces`);
  return value;
}

/** The minimum number of characters of a secret that is redacted. Shorter ones could be ordinary words. */
const SHORTEST = 4;

/** Removes the secrets from a text, in every form in which they are sent. */
export function redact(text: string, secrets: readonly string[]): string {
  let told = text;
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST))
    for (const form of [secret, encodeURIComponent(secret), base64(secret)])
      told = told.replaceAll(form, "***");
  return told;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Returns the Authorization header of basic authentication. */
export const basic = (user: string, password: string): string =>
  `Basic ${base64(`${user}:${password}`)}`;

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);
