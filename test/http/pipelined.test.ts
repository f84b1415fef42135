/** Many requests that a client sends at once on one connection are answered one after another, and in turns. */

import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { MOST_WAITING, toNodeListener } from "../../src/http/node-listener.ts";
import { listen } from "./mounts.ts";

const request = (path: string, body = "") =>
  `POST /${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends a text, and resolves to the bodies of the given number of answers. */
async function send(origin: string, text: string, count: number): Promise<string[]> {
  const client = connect(Number(new URL(origin).port), "127.0.0.1");
  client.write(text);
  let got = "";
  for await (const chunk of client as AsyncIterable<Buffer>) {
    got += chunk.toString();
    const bodies = [...got.matchAll(/<(\w*)>/g)].map(([, body]) => body!);
    if (bodies.length === count) return bodies;
  }
  throw new Error(`closed after ${got}`);
}

test("many requests are answered in order, one at a time, and each in its own turn of the event loop", async () => {
  let [running, most, turns] = [0, 0, 0];
  let isOver = false;
  const look = () => {
    turns++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const server = createServer(
    toNodeListener(async (asked) => {
      most = Math.max(most, ++running);
      const text = await asked.text();
      running--;
      return new Response(`<${text}>`);
    }),
  );
  await using listening = await listen(server);
  const names = Array.from({ length: MOST_WAITING + 1 }, (_, i) => `r${i}`);
  const sent = names.map((name) => request(name, name)).join("");
  expect(await send(listening.origin, sent, names.length)).toEqual(names);
  isOver = true;
  expect(most).toBe(1);
  expect(turns).toBeGreaterThan(names.length);
  // a long body after another request, in pieces
  const long = "x".repeat(1_000_000);
  const three = request("a", "a") + request("b", long) + request("c", "c");
  expect(await send(listening.origin, three, 3)).toEqual(["a", long, "c"]);
});

test("more requests than that end the connection", async () => {
  let begun = 0;
  const never = () => {
    begun++;
    return new Promise<Response>(() => {});
  };
  await using listening = await listen(createServer(toNodeListener(never)));
  const text = request("r").repeat(MOST_WAITING + 2);
  await expect(send(listening.origin, text, 1)).rejects.toThrow(/closed|ECONNRESET/);
  expect(begun).toBe(1);
});

test("requests that wait for an answer each do not wait for each other", async () => {
  await using listening = await listen(
    createServer(toNodeListener(async (asked) => new Response(`<${await asked.text()}>`))),
  );
  const client = connect(Number(new URL(listening.origin).port), "127.0.0.1");
  for (let i = 0; i < 3 * MOST_WAITING; i++) {
    client.write(request("r", `r${i}`));
    let got = "";
    while (!got.includes(`<r${i}>`)) got += String((await once(client, "data"))[0]);
  }
  client.destroy();
});
