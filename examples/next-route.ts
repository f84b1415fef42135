/**
 * Code search in Next.js: this file as app/api/[...path]/route.ts, and in next.config.mjs
 *
 *     export default { serverExternalPackages: ["quern"] };
 *
 * The engine hangs on globalThis, because `next dev` loads a changed module again in the same process.
 */

import { open } from "quern";
import { createHandler } from "quern/http";

const shared = globalThis as { search?: ReturnType<typeof start> };

async function start() {
  const engine = await open(process.env["QUERN_DB"] ?? "./.quern", { readOnly: true });
  return createHandler(engine, { anonymous: "all" });
}

async function answer(request: Request): Promise<Response> {
  shared.search ??= start();
  shared.search.catch(() => delete shared.search); // what fails is tried again by the next request
  return (await shared.search)(request);
}

export { answer as DELETE, answer as GET, answer as POST };
export const dynamic = "force-dynamic";
