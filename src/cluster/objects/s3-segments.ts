/**
 * Keeps objects in an S3-compatible service. This store uses neither conditional writes nor requests that delete
 * several objects, because some services support neither. An upload consists of whole buffers, so that the client can
 * send a buffer again if a request fails. A download that breaks off continues where it stopped, because objects never
 * change.
 */

import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  CompletedPart,
  CreateMultipartUploadCommandOutput,
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  ListObjectsV2CommandOutput,
  UploadPartCommandOutput,
} from "@aws-sdk/client-s3";
import { QuernError } from "../../base/errors.ts";
import { checkKeys } from "../../base/known-keys.ts";
import {
  ask,
  statusOf,
  told,
  tooSlow,
  type About,
  type Requests,
  type S3Sender,
} from "./s3-requests.ts";
import {
  checkedKey,
  checkedRange,
  inPieces,
  isKey,
  ofLength,
  type SegmentStore,
  type StoredObject,
} from "./segment-store.ts";

/**
 * The size of a part in bytes. A longer object is uploaded in several parts. Services accept parts of 5 MiB to 5 GiB,
 * and objects of up to 5 GiB in one part.
 */
const PART_BYTES = 16 * 2 ** 20;
/** The maximum number of parts of one object that services accept. */
const MOST_PARTS = 10_000;
/** How many parts of one upload are sent at the same time. Each part is a buffer of PART_BYTES. */
const PARTS_AT_ONCE = 4;
/** How many times in a row a download may be continued without receiving any bytes. */
const RESUMES = 4;
/** The pause before a download is first continued. It doubles with each further attempt. */
const RESUME_MS = 100;
const TIMEOUT_MS = 60_000;

/**
 * Options of s3Segments().
 *
 * @example
 * const options: S3SegmentsOptions = { bucket: "search", prefix: "quern" };
 */
export interface S3SegmentsOptions {
  /** The name of the bucket. The bucket must exist. */
  bucket: string;
  /** The prefix of all keys in the bucket. A "/" separates the prefix from the rest of a key. Default: no prefix. */
  prefix?: string;
  /**
   * The time in milliseconds after which a request fails if the service sends nothing. The time begins anew with each
   * piece of an answer. Default 60 000.
   */
  timeoutMs?: number;
}

/**
 * Returns a store that keeps objects in a bucket of an S3-compatible service. The settings of `client` determine the
 * address of the service, the credentials, and how many times a request is tried.
 *
 * @example
 * declare const client: S3Sender; // new S3Client({ endpoint: "http://127.0.0.1:9000", forcePathStyle: true })
 * const segments = s3Segments(client, { bucket: "search", prefix: "quern" });
 * for await (const { key } of segments.list("v1/seg/")) console.log(key);
 */
export function s3Segments(client: S3Sender, options: S3SegmentsOptions): SegmentStore {
  const { requests, before } = checkedOptions(client, options);
  const { bucket: Bucket } = requests;
  const nameOf = (key: string): string => before + checkedKey(key);
  return {
    async put(key, body, bytes, signal) {
      const about = { key, signal };
      const upload: Upload = { requests, about, Key: nameOf(key), bytes };
      const whole = ofLength(body, bytes);
      if (bytes > PART_BYTES) return putParts(upload, whole);
      const pieces: Uint8Array[] = [];
      for await (const piece of whole) pieces.push(Uint8Array.from(piece));
      const Body = Buffer.concat(pieces);
      const { Key } = upload;
      await ask(requests, (sdk) => new sdk.PutObjectCommand({ Bucket, Key, Body }), about);
    },
    async get(key, range, signal) {
      const about = { key, signal };
      const Key = nameOf(key);
      const [from, to] = checkedRange(range);
      if (from === to) {
        const head = { Bucket, Key };
        await ask(requests, (sdk) => new sdk.HeadObjectCommand(head), about);
        return nothing();
      }
      const begin = (at: number): Promise<GetObjectCommandOutput> => {
        const part = at === 0 && range === undefined ? {} : { Range: `bytes=${at}-${to - 1}` };
        const asked = { Bucket, Key, ...part };
        return ask(requests, (sdk) => new sdk.GetObjectCommand(asked), about);
      };
      // status 416 means that the object ends at or before `from`
      const first = await begin(from).catch((error: unknown) => {
        if (statusOf(error) === 416) return undefined;
        throw error;
      });
      return first === undefined ? nothing() : download({ requests, about, begin, from, first });
    },
    async delete(key, signal) {
      const gone = { Bucket, Key: nameOf(key) };
      await ask(requests, (sdk) => new sdk.DeleteObjectCommand(gone), { key, signal }).catch(
        (error: unknown) => {
          if (!(error instanceof QuernError && error.code === "INDEX_NOT_FOUND")) throw error;
        },
      );
    },
    list: (prefix, signal) => listKeys(requests, { before, prefix, signal }),
  };
}

function checkedOptions(
  client: S3Sender,
  options: S3SegmentsOptions,
): { requests: Requests; before: string } {
  const known = { bucket: true, prefix: true, timeoutMs: true } as const;
  checkKeys({ call: "s3Segments", what: "option" }, options, known);
  const { bucket, prefix = "", timeoutMs = TIMEOUT_MS } = options;
  if (typeof client?.send !== "function")
    throw invalid("client must be an S3Client of the package @aws-sdk/client-s3");
  if (typeof bucket !== "string" || bucket === "")
    throw invalid(`bucket must be the name of a bucket, got ${JSON.stringify(bucket)}`);
  if (typeof prefix !== "string" || prefix.startsWith("/") || prefix.includes("//"))
    throw invalid(
      `prefix must be names separated by single "/", such as "search/quern", got ${JSON.stringify(prefix)}`,
    );
  // a timer of Node takes at most 2^31 - 1 ms
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs >= 2 ** 31)
    throw invalid(`timeoutMs must be an integer from 1 to ${2 ** 31 - 1}, got ${timeoutMs}`);
  const before = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return { requests: { client, bucket, timeoutMs }, before };
}

const invalid = (what: string): QuernError =>
  new QuernError("INVALID_REQUEST", `s3Segments: ${what}`);

async function* nothing(): AsyncGenerator<Uint8Array> {}

interface Upload {
  readonly requests: Requests;
  readonly about: About;
  readonly Key: string;
  readonly bytes: number;
}

/**
 * Uploads a body in parts. If the process is killed, the parts stay in the bucket until a lifecycle rule removes
 * them.
 */
async function putParts(upload: Upload, body: AsyncIterable<Uint8Array>): Promise<void> {
  const { requests, about, Key } = upload;
  const Bucket = requests.bucket;
  const { UploadId } = await ask<CreateMultipartUploadCommandOutput>(
    requests,
    (sdk) => new sdk.CreateMultipartUploadCommand({ Bucket, Key }),
    about,
  );
  try {
    const Parts = await sendParts(upload, body, UploadId);
    const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
    await ask(requests, (sdk) => new sdk.CompleteMultipartUploadCommand(whole), about).catch(
      (error: unknown) => mustBeThere(upload, error),
    );
  } catch (error) {
    const gone = { Bucket, Key, UploadId };
    const key = Key;
    await ask(requests, (sdk) => new sdk.AbortMultipartUploadCommand(gone), { key }).catch(
      () => undefined, // the first error is the one to report
    );
    throw error;
  }
}

/**
 * Handles an error that occurred when an upload was completed. Rethrows the error, unless the object exists. If the
 * answer to the completion was lost, the client sends the completion again. The second completion fails, because the
 * upload no longer exists.
 */
async function mustBeThere({ requests, about, Key, bytes }: Upload, error: unknown): Promise<void> {
  if (!(error instanceof Error && error.name === "NoSuchUpload")) throw error;
  const head = { Bucket: requests.bucket, Key };
  const { ContentLength } = await ask<HeadObjectCommandOutput>(
    requests,
    (sdk) => new sdk.HeadObjectCommand(head),
    about,
  );
  if (ContentLength !== bytes) throw error;
}

async function sendParts(
  { requests, about, Key, bytes }: Upload,
  body: AsyncIterable<Uint8Array>,
  UploadId: string | undefined,
): Promise<CompletedPart[]> {
  const parts: CompletedPart[] = [];
  const send = async (PartNumber: number, Body: Uint8Array): Promise<void> => {
    const part = { Bucket: requests.bucket, Key, UploadId, PartNumber, Body };
    const { ETag } = await ask<UploadPartCommandOutput>(
      requests,
      (sdk) => new sdk.UploadPartCommand(part),
      about,
    );
    parts[PartNumber - 1] = { PartNumber, ETag };
  };
  const running = new Set<Promise<void>>();
  let count = 0;
  try {
    for await (const piece of inPieces(body, Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS)))) {
      if (running.size === PARTS_AT_ONCE) await Promise.race(running);
      const one = send(++count, piece);
      running.add(one);
      void one.then(
        () => running.delete(one),
        () => undefined, // the failed promise stays in the set, so race() or all() throws its error
      );
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
  return parts;
}

interface Download {
  readonly requests: Requests;
  readonly about: About;
  readonly begin: (at: number) => Promise<GetObjectCommandOutput>;
  readonly from: number;
  readonly first: GetObjectCommandOutput;
}

async function* download(given: Download): AsyncGenerator<Uint8Array> {
  const { requests, about, begin, from, first } = given;
  const end = from + (first.ContentLength ?? 0);
  let [at, answer, failures] = [from, first, 0];
  for (;;) {
    try {
      for await (const piece of patiently(answer, requests, about)) {
        [at, failures] = [at + piece.length, 0];
        yield piece;
      }
      if (at >= end) return;
      throw new Error(`the store ended an object of ${end} bytes after ${at}`);
    } catch (error) {
      if (about.signal?.aborted || isOtherBytes(error) || failures === RESUMES)
        throw isOtherBytes(error) ? damaged(about, error) : told(error, requests, about);
      await sleep(RESUME_MS * 2 ** failures++);
      answer = await begin(at);
    }
  }
}

/**
 * Yields the pieces of a body. Throws if the store sends nothing for too long, or if the signal aborts. The time that
 * the caller takes for a piece does not count.
 */
async function* patiently(
  { Body }: GetObjectCommandOutput,
  requests: Requests,
  { signal }: About,
): AsyncGenerator<Uint8Array> {
  const body = Body as Readable; // the type that the client returns on Node
  const stop = (): void => void body.destroy(new Error("aborted"));
  const wait = (): NodeJS.Timeout =>
    setTimeout(() => body.destroy(tooSlow(requests)), requests.timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  let timer = wait();
  try {
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield piece;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** Whether the client has reported that a whole object does not match the checksum that the service sent. */
const isOtherBytes = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("Checksum mismatch");

const damaged = ({ key }: About, cause: unknown): QuernError =>
  new QuernError(
    "INDEX_CORRUPT",
    `the store returned bytes for ${key} that differ from those stored; if this happens again, restore the object from a backup`,
    { cause },
  );

async function* listKeys(
  requests: Requests,
  { before, prefix, signal }: { before: string; prefix: string; signal?: AbortSignal | undefined },
): AsyncGenerator<StoredObject> {
  let next: string | undefined;
  do {
    const asked = { Bucket: requests.bucket, Prefix: before + prefix };
    const after = next === undefined ? {} : { ContinuationToken: next };
    const page = await ask<ListObjectsV2CommandOutput>(
      requests,
      (sdk) => new sdk.ListObjectsV2Command({ ...asked, ...after }),
      { signal },
    );
    for (const { Key = "", LastModified } of page.Contents ?? []) {
      const key = Key.slice(before.length);
      // other applications may have objects under the prefix
      if (isKey(key) && LastModified) yield { key, at: LastModified };
    }
    next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (next !== undefined);
}
