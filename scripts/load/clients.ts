/**
 * Runs the clients of a load test. Each sends one request after another over its own connection. When the time is over,
 * the results of all clients are sent to the parent process.
 */

import { Agent, request } from "node:http";
import { gistOf, type Question } from "./questions.ts";
import type { Served } from "./server.ts";

export interface Assignment extends Served {
  readonly questions: readonly Question[];
  readonly clients: number;
  /** The seconds of warm-up at the start, whose answers are counted but not timed. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface Outcome {
  /** Milliseconds to the last byte of each right answer after the warm-up, by kind. */
  readonly latencies: Record<string, number[]>;
  readonly overloaded: number;
  /** The errors, and how often each occurred. */
  readonly errors: Record<string, number>;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/**
 * Runs the clients. `onBegin` is called when the right answers are known and the clients begin to warm up the server.
 */
export async function ask(assignment: Assignment, onBegin: () => void): Promise<Outcome> {
  const { questions, clients, warmUpSeconds, seconds } = assignment;
  const gists = new Map<Question, string>();
  for (const question of questions) gists.set(question, await learn(assignment, question));
  onBegin();
  const outcome = { latencies: {}, overloaded: 0, errors: {} };
  const measureFrom = performance.now() + warmUpSeconds * 1000;
  const end = measureFrom + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      runClient(assignment, { client, measureFrom, end, gists, outcome }),
    ),
  );
  return outcome;
}

/** Resolves to the essence of the answer when nobody else sends requests. */
async function learn(served: Served, question: Question): Promise<string> {
  const agent = new Agent();
  const { status, text } = await send(served, question, agent);
  agent.destroy();
  if (status === 200) return gistOf(question, text);
  throw new Error(`${question.path} ${question.body ?? ""} answered ${status} ${text}`);
}

interface Run {
  readonly client: number;
  readonly measureFrom: number;
  readonly end: number;
  readonly gists: ReadonlyMap<Question, string>;
  readonly outcome: {
    latencies: Outcome["latencies"];
    overloaded: number;
    errors: Outcome["errors"];
  };
}

const RETRY_MS = 50; // the pause of a client that was rejected; shorter than Retry-After, to keep the load up

async function runClient(assignment: Assignment, run: Run): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { outcome, gists } = run;
  const choose = chooser(assignment.questions, run.client);
  const fail = (what: string): void => {
    outcome.errors[what] = (outcome.errors[what] ?? 0) + 1;
  };
  while (performance.now() < run.end) {
    const question = choose();
    const start = performance.now();
    try {
      const { status, text } = await send(assignment, question, agent);
      if (status === 503 && text.includes('"OVERLOADED"')) {
        outcome.overloaded++;
        await new Promise((done) => setTimeout(done, RETRY_MS));
      } else if (status !== 200) fail(`${question.kind}: ${status} ${text.slice(0, 200)}`);
      else if (gistOf(question, text) !== gists.get(question))
        fail(`${question.kind}: ${gistOf(question, text)} instead of ${gists.get(question)}`);
      else if (start >= run.measureFrom)
        (outcome.latencies[question.kind] ??= []).push(performance.now() - start);
    } catch (error) {
      fail(`${question.kind}: ${String(error)}`);
    }
  }
  agent.destroy();
}

/**
 * Returns a function that chooses the client's next question. Each client has its own order, which is the same in every
 * run.
 */
function chooser(questions: readonly Question[], seed: number): () => Question {
  const total = questions.reduce((sum, { weight }) => sum + weight, 0);
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    let left = (state / 2 ** 32) * total;
    return questions.find(({ weight }) => (left -= weight) < 0) ?? questions[0]!;
  };
}

function send({ port, secret }: Served, question: Question, agent: Agent): Promise<Reply> {
  const { method, path, body } = question;
  const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
