/** Starts, kills and stops nodes that are processes of their own. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { bundledPrograms } from "../programs.ts";
import type { NodeTold } from "./node-process.ts";
import { SHORT_LIVED } from "../short-lived.ts";

export interface NodeProcess {
  readonly name: string;
  readonly url: string;
  /** The warnings of the node. */
  readonly warnings: readonly string[];
  /** REQUIRES: it was started. */
  readonly pid: number;
  /** Whether all slices that the node owns are ready. */
  readonly isReady: boolean;
  /** Resolves when all slices that the node owns are ready. REQUIRES: it does not run. */
  start(): Promise<void>;
  /** Ends the node with a signal. With SIGTERM it closes in an orderly way. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Resolves when the node has given its slices to others and has ended. */
  leave(): Promise<void>;
}

export type NewNode = (
  name: string,
  options?: Partial<Pick<NodeTold, "clockMs">>,
) => Promise<NodeProcess>;

/** Compiles the program of nodes once. */
export async function nodeProgram(
  told: Omit<NodeTold, "name" | "port" | "directory" | "clockMs">,
  folderOf: (name: string) => string,
): Promise<NewNode> {
  const [program] = await bundledPrograms(["test/cluster/node-process.ts"]);
  return async (name, options = {}) => {
    const port = await freePort();
    const node = { ...told, ...options, name, port, directory: folderOf(name) };
    const argument = JSON.stringify(node satisfies NodeTold);
    return newNode(name, port, [program!, argument]);
  };
}

function newNode(name: string, port: number, args: readonly string[]): NodeProcess {
  let child: ChildProcess | undefined;
  let isReady = false;
  const warnings: string[] = [];
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    warnings,
    get pid() {
      return child!.pid!;
    },
    get isReady() {
      return isReady;
    },
    async start() {
      const begun = spawn(process.execPath, [...SHORT_LIVED, ...args], {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      child = begun;
      await new Promise<void>((resolve, reject) => {
        begun.on("message", (told: "ready" | { warning: string }) => {
          if (told === "ready") resolve();
          else warnings.push(told.warning);
        });
        begun.once("exit", (code, signal) =>
          reject(new Error(`node ${name} ended before it was ready: ${code ?? signal}`)),
        );
      });
      isReady = true;
    },
    async end(signal) {
      isReady = false;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
    async leave() {
      const gone = once(child!, "exit");
      child!.send("leave");
      await gone;
      isReady = false;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
