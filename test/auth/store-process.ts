/** A process of its own with a token store open: does what its parent asks. */

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

process.on("message", ([command, ...parts]: string[]) => {
  void COMMANDS[command!]!(...parts).then((answer) => process.send!({ answer }));
});
process.send!("ready");
