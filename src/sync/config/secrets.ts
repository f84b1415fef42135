/**
 * Reads secrets from environment variables, and removes them from messages. A secret is used only in request headers
 * and in the environment of git processes. Every error message passes through redact(), because a host may repeat the
 * secret in its response.
 */

import { invalid } from "../../base/errors.ts";
import type { SecretFromEnvironment } from "./config.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads a secret. Throws INVALID_REQUEST if the variable is not set, or if its value cannot be used in a header. */
export function readSecret(secret: SecretFromEnvironment, env: Variables, whose: string): string {
  const value = env[secret.env]?.trim() ?? "";
  if (value === "")
    throw invalid(
      `${whose}: the environment variable ${secret.env} is not set; set it to the secret`,
    );
  if (!/^[\x21-\x7e]+$/.test(value))
    throw invalid(
      `${whose}: ${secret.env} must contain only visible ASCII characters, without spaces`,
    );
  return value;
}

/** The minimum length of a secret that is redacted, in characters. A shorter secret could be an ordinary word. */
const SHORTEST = 4;

/** Replaces each secret in a text with `***`, in every form in which quern sends secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  let told = text;
  for (const secret of secrets.filter(({ length }) => length >= SHORTEST))
    for (const form of [secret, encodeURIComponent(secret), base64(secret)])
      told = told.replaceAll(form, "***");
  return told;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Returns the value of the Authorization header for basic authentication. */
export const basic = (user: string, password: string): string =>
  `Basic ${base64(`${user}:${password}`)}`;
