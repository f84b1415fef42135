/** A long event, without a socket. */

import { expect, test } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import { events } from "./interface.ts";
import { chunkEvent, scriptedEngine } from "./scripted.ts";
import { clientOf, post } from "./service.ts";

const search = post({ query: "x", matches: 1 });

const RANGES = 100_000;

test("an event of any length is sent in pieces, which are made on demand", async () => {
  const position = { byteOffset: 1, lineNumber: 1, column: 1 };
  const matchRanges = Array(RANGES).fill({ start: position, end: position });
  let made = -RANGES; // the number of ranges that were converted to text; each is also read once to estimate its memory
  const ranges = new Proxy(matchRanges, {
    get(all, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) made++;
      return Reflect.get(all, name) as unknown;
    },
  });
  async function* stream() {
    yield { ...chunkEvent(), files: [{ webUrl: "/", chunks: [{ matchRanges: ranges }] }] } as never;
  }
  const response = await clientOf(createHandler(scriptedEngine({ stream }), { anonymous: "all" }))(
    "/api/stream_search",
    search,
  );
  let [text, turns] = ["", 0];
  const timer = setInterval(() => turns++, 0);
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    expect(made * 60 - text.length).toBeLessThan(300_000);
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
  const [event] = events(text) as unknown as [
    { files: { chunks: { matchRanges: unknown[] }[] }[] },
  ];
  expect(event.files[0]!.chunks[0]!.matchRanges.length).toBe(RANGES);
});
