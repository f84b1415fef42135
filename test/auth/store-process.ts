/** A process that opens a token store and does what its parent asks, or the one thing that its arguments name. */

import { lmdbTokenStore } from "../../src/auth/lmdb-stores.ts";

const store = lmdbTokenStore(process.argv[2]!);

const COMMANDS: Record<string, (...parts: string[]) => Promise<unknown>> = {
  create: (id = "", hash = "") =>
    store.create({ id, hash, kind: "api-key", ownerId: "child", createdAt: new Date() }).then(
      () => "ok",
      (error: { code: string }) => error.code,
    ),
  revoke: (id = "") => store.revoke(id, new Date()),
  isRevoked: async (hash = "") => (await store.findByHash(hash))?.revokedAt !== undefined,
};

const [command, ...given] = process.argv.slice(3);
if (command !== undefined) {
  await COMMANDS[command]!(...given);
  await store[Symbol.asyncDispose]();
} else {
  process.on("message", ([asked, ...parts]: string[]) => {
    void COMMANDS[asked!]!(...parts).then((answer) => process.send!({ answer }));
  });
  process.send!("ready");
}
