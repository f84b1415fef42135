/**
 * An S3-compatible service for the tests of a file. It is OpenStack Swift if Debian's package python3-swift is
 * installed, or versitygw if QUERN_VERSITYGW is the path of its program. If there is neither, the tests are skipped and
 * a printed line says so. With QUERN_CI=1 that is an error.
 */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { CreateBucketCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { test } from "vitest";
import { leaveOut } from "../left-out.ts";

const versitygw = process.env["QUERN_VERSITYGW"];
/** The Python of Debian. Another Python that comes first on the PATH would not have the package. */
const PYTHON = "/usr/bin/python3";

function whatIsMissing(): string | undefined {
  if (versitygw !== undefined) return undefined;
  try {
    execFileSync(PYTHON, ["-c", "import swift, eventlet"], { stdio: "pipe" });
    return undefined;
  } catch {
    return "install Debian's package python3-swift, or set QUERN_VERSITYGW";
  }
}

const missing = whatIsMissing();
if (missing !== undefined) leaveOut("S3 server", missing);

export const isThere = missing === undefined;
export const isSwift = versitygw === undefined;

/** Declares a test that is skipped if there is no server. */
export const s3Test: ReturnType<typeof test.runIf> = test.runIf(isThere);

export interface S3Server {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

const KEYS = { accessKeyId: "quern:test", secretAccessKey: "secret" };

/** Starts a server on an empty folder, or on one that another server has left. */
export async function startS3(folder: string): Promise<S3Server> {
  const process = versitygw === undefined ? startSwift(folder) : await startVersity(folder);
  const { child } = process;
  const port = await process.port;
  return {
    port,
    async stop() {
      if (child.exitCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly port: Promise<number> | number;
}

function startSwift(folder: string): Started {
  const script = "test/cluster/swift-server.py";
  const child = spawn(PYTHON, [script, folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  return { child, port: once(lines, "line").then(([line]) => Number(line)) };
}

async function startVersity(folder: string): Promise<Started> {
  const port = await freePort();
  mkdirSync(`${folder}/data`, { recursive: true });
  const keys = ["--access", KEYS.accessKeyId, "--secret", KEYS.secretAccessKey];
  const options = ["--port", `127.0.0.1:${port}`, "--quiet", "--keep-alive"];
  const flags = [...keys, ...options, "posix", `${folder}/data`];
  const child = spawn(versitygw!, flags, { stdio: ["ignore", "ignore", "inherit"] });
  return { child, port };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

/** Returns a client as a host makes it. It repeats its requests during a server's first seconds. */
export const clientOn = (port: number, options: S3ClientConfig = {}): S3Client =>
  new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: KEYS,
    maxAttempts: 6,
    ...options,
  });

/** Makes an empty bucket. Resolves to its name. */
export async function emptyBucket(client: S3Client): Promise<string> {
  const Bucket = `b${randomBytes(8).toString("hex")}`;
  await client.send(new CreateBucketCommand({ Bucket }));
  return Bucket;
}
