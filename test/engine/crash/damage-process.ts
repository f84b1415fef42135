/** A process that opens a directory, asks a fixed list of questions, and prints the answers as JSON. */

import { open } from "../../../src/opened-engine.ts";
import { QUESTIONS, type Answer } from "./questions.ts";

const path = process.argv[2]!;
const answers: Answer[] = [];

try {
  let warned = new Set<string>();
  await using engine = await open(path, {
    workers: 0,
    readOnly: true,
    onWarning: ({ code }) => void warned.add(code),
  });
  for (const { name, ask } of QUESTIONS) {
    warned = new Set();
    try {
      answers.push({ name, ...(await ask(engine)), warned: [...warned] });
    } catch (error) {
      answers.push({ name, ...failure(error), warned: [] });
    }
  }
} catch (error) {
  answers.push({ name: "open", ...failure(error), warned: [] });
}

function failure(error: unknown): { code: string; message: string } {
  const { code = "no code", message } = error as { code?: string; message: string };
  return { code, message };
}

process.stdout.write(JSON.stringify(answers));
