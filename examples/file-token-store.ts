/** API keys in a JSON file, where another host has a table of its database. */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { TokenRecord, TokenStore } from "quern/http";

const DATES = new Set(["createdAt", "expiresAt", "revokedAt", "lastUsedAt"]);

/** For one process: it reads the file at every call and replaces it at every change. */
export function fileTokenStore(path: string): TokenStore {
  const load = (): TokenRecord[] => {
    const text = readFileSync(path, { encoding: "utf8", flag: "a+" }) || "[]";
    const revive = (name: string, value: unknown): unknown =>
      DATES.has(name) && typeof value === "string" ? new Date(value) : value;
    return JSON.parse(text, revive) as TokenRecord[];
  };
  const save = (records: TokenRecord[]): void => {
    writeFileSync(`${path}.new`, JSON.stringify(records), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  const change = (id: string, fields: Partial<TokenRecord>): void =>
    save(load().map((record) => (record.id === id ? { ...record, ...fields } : record)));
  return {
    async create(record) {
      const records = load();
      if (records.some(({ id, hash }) => id === record.id || hash === record.hash))
        throw Object.assign(new Error("there is such a token"), { code: "DUPLICATE_ID" });
      save([...records, record]);
    },
    findByHash: async (hash) => load().find((record) => record.hash === hash),
    get: async (id) => load().find((record) => record.id === id),
    async *list(ownerId) {
      const own = load().filter((record) => record.ownerId === ownerId);
      yield* own.sort((a, b) => +a.createdAt - +b.createdAt || (a.id < b.id ? -1 : 1));
    },
    async revoke(id, at) {
      const record = load().find((one) => one.id === id);
      if (record === undefined || record.revokedAt) return false;
      change(id, { revokedAt: at });
      return true;
    },
    touch: async (id, at) => change(id, { lastUsedAt: at }),
  };
}
