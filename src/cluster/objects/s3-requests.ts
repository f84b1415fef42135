/**
 * Sends requests to an S3-compatible service through the host's client. Adds a time limit, and error messages that
 * say what to do. The package `@aws-sdk/client-s3` is an optional peer dependency. The first request loads the
 * package, because commands must be instances of its classes.
 */

import type * as sdk from "@aws-sdk/client-s3";
import { JoinedSignal } from "../../base/joined-signal.ts";
import { aborted, throwIfAborted } from "../../base/abort.ts";
import { QuernError } from "../../base/errors.ts";
import { noSuchObject } from "./segment-store.ts";

type Sdk = typeof sdk;

/**
 * The part of an S3 client that quern uses. `new S3Client()` of the package `@aws-sdk/client-s3` fits.
 *
 * @example
 * declare const client: S3Sender; // new S3Client({ region: "eu-central-1" })
 * const segments = s3Segments(client, { bucket: "quern" });
 */
export interface S3Sender {
  /**
   * Sends a command to the service. Repeats a failed request if that may help.
   *
   * @example
   * declare const client: S3Sender;
   * declare const command: object; // new HeadBucketCommand({ Bucket: "quern" })
   * await client.send(command, { abortSignal: AbortSignal.timeout(5_000) });
   */
  send(
    command: object,
    options?: {
      /** When this signal is aborted, the request ends. */
      abortSignal?: AbortSignal;
    },
  ): Promise<object>;
}

export interface Requests {
  readonly client: S3Sender;
  readonly bucket: string;
  readonly timeoutMs: number;
}

/** The key to which a request refers, for error messages, and the signal that ends the request. */
export interface About {
  /** The key of the object in the store. Absent if the request lists keys. */
  readonly key?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a command, and resolves to the answer. REQUIRES: `Answer` is the type of the service's answer to this
 * command.
 */
export async function ask<Answer extends object>(
  requests: Requests,
  command: (sdk: Sdk) => object,
  about: About,
): Promise<Answer> {
  const { client, timeoutMs } = requests;
  const { signal } = about;
  if (signal) throwIfAborted(signal);
  using ends = new JoinedSignal([signal], timeoutMs);
  try {
    const options = { abortSignal: ends.signal };
    return (await client.send(command(await loadSdk()), options)) as Answer;
  } catch (error) {
    throw ends.isLate ? tooSlow(requests, error) : told(error, requests, about);
  }
}

/**
 * The name of the optional peer dependency. The call of import() does not contain the name itself, so a host's
 * bundler does not look for the package. The host may lack the package.
 */
const SDK: string = "@aws-sdk/client-s3";

async function loadSdk(): Promise<Sdk> {
  try {
    return (await import(SDK)) as Sdk;
  } catch (cause) {
    throw new QuernError(
      "INVALID_REQUEST",
      "s3Segments: the package @aws-sdk/client-s3 cannot be loaded: install it next to quern",
      { cause },
    );
  }
}

/**
 * Returns the error for a store that does not answer. The error has the name that the client gives to errors of this
 * kind.
 */
export function tooSlow({ bucket, timeoutMs }: Requests, cause?: unknown): Error {
  const message = `s3Segments: the store of bucket ${bucket} sent nothing for ${timeoutMs} ms (timeoutMs)`;
  return Object.assign(new Error(message, { cause }), { name: "TimeoutError" });
}

/** Converts an error of the client to the error that is thrown. An error that no option can fix stays as it is. */
export function told(error: unknown, { bucket }: Requests, { key, signal }: About): unknown {
  if (signal?.aborted) return aborted(signal);
  if (!(error instanceof Error) || error instanceof QuernError) return error;
  const { name } = error;
  if (key !== undefined && (name === "NoSuchKey" || name === "NotFound"))
    return noSuchObject(key, error);
  if (name === "NoSuchBucket")
    return new QuernError(
      "INVALID_REQUEST",
      `bucket: the store has no bucket ${JSON.stringify(bucket)}: create it, or set the client's endpoint and region to the bucket's`,
      { cause: error },
    );
  if (statusOf(error) === 301 || name === "AuthorizationHeaderMalformed")
    return new QuernError(
      "INVALID_REQUEST",
      `bucket: ${JSON.stringify(bucket)} is in a different region from the client: ${error.message}`,
      { cause: error },
    );
  if (statusOf(error) === 403)
    return new QuernError(
      "PERMISSION_DENIED",
      `the store refuses to ${key === undefined ? "list" : "serve"} ${JSON.stringify(key ?? bucket)} (${name}: ${error.message}); the client's credentials need s3:ListBucket on the bucket ${bucket}, and s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload on its objects`,
      { cause: error },
    );
  return error;
}

/** Returns the HTTP status of an error that the client threw. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("$metadata" in error)) return undefined;
  return (error.$metadata as { httpStatusCode?: number }).httpStatusCode;
}
