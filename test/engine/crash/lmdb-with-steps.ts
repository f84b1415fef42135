/**
 * Replaces `lmdb` in the writer's bundle (bundle.ts). Each write transaction appends the name of its step to the file
 * QUERN_STEPS. At the moment QUERN_MOMENT the process kills or stops itself. LMDB's lock is held meanwhile, so the
 * order of steps is that of all threads.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { open as openLmdb, type RootDatabase, type RootDatabaseOptionsWithPath } from "lmdb";
import { engineKey } from "../../../src/store/format/format.ts";
import type { Manifest } from "../../../src/store/catalog/manifest.ts";
import { manifestIn, nameStep, type Moment, type Step } from "./steps.ts";

type Database = RootDatabase<Buffer, Buffer>;
type Work = () => unknown;

const file = process.env["QUERN_STEPS"];
const moment = JSON.parse(process.env["QUERN_MOMENT"] ?? "null") as Moment | null;
const MANIFEST = engineKey("manifest");

export function open(options: RootDatabaseOptionsWithPath): Database {
  const database = openLmdb<Buffer, Buffer>(options);
  if (file !== undefined) watch(database, options.maxDbs !== undefined);
  return database;
}

/** The methods of lmdb with the arguments that are used here. */
interface Methods {
  transaction(work: Work): Promise<unknown>;
  transactionSync(work: Work, flags?: number): unknown;
  putSync(key: Buffer, value: Buffer): unknown;
  removeSync(key: Buffer): unknown;
}

function watch(database: Database, isKeyStore: boolean): void {
  const methods = database as unknown as Methods;
  const own = bound(methods);
  let touched = nothing();
  methods.putSync = (key, value) => {
    touched.put.push(Buffer.from(key));
    if (key.equals(MANIFEST)) touched.after = manifestIn(Buffer.from(value));
    return own.putSync(key, value);
  };
  methods.removeSync = (key) => {
    touched.removed.push(Buffer.from(key));
    return own.removeSync(key);
  };
  const watched = (work: Work) => (): unknown => {
    end("kill after", log());
    const stored = isKeyStore ? undefined : database.get(MANIFEST);
    touched = { ...nothing(), before: stored && manifestIn(Buffer.from(stored)) };
    const result = work();
    const step = isKeyStore ? "key stored" : nameStep(touched);
    end("kill within", [...log(), step]);
    appendFileSync(file!, `${step}\n`);
    return result;
  };
  methods.transaction = async (work) => {
    const result = await own.transaction(watched(work));
    end("stop committed", log());
    return result;
  };
  methods.transactionSync = (work, flags) => {
    const result = own.transactionSync(watched(work), flags);
    end("stop committed", log());
    return result;
  };
}

const nothing = () => ({
  put: [] as Buffer[],
  removed: [] as Buffer[],
  before: undefined as Manifest | undefined,
  after: undefined as Manifest | undefined,
});

/** Returns the methods as they are before any is replaced. */
const bound = (methods: Methods): Methods => ({
  transaction: methods.transaction.bind(methods),
  transactionSync: methods.transactionSync.bind(methods),
  putSync: methods.putSync.bind(methods),
  removeSync: methods.removeSync.bind(methods),
});

function log(): Step[] {
  if (!existsSync(file!)) return [];
  return readFileSync(file!, "utf8").split("\n").slice(0, -1) as Step[];
}

function end(how: Moment["how"], steps: readonly Step[]): void {
  if (how !== moment?.how || steps.at(-1) !== moment.step) return;
  if (steps.filter((step) => step === moment.step).length !== moment.nth) return;
  process.kill(process.pid, how === "stop committed" ? "SIGSTOP" : "SIGKILL");
}
