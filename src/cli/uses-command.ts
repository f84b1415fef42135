/** Implements quern uses. It prints where a symbol is used, called, defined or implemented. */

import type { Command } from "commander";
import { invalid } from "../base/errors.ts";
import type { Engine } from "../engine.ts";
import type {
  Certainty,
  NavigationAnswer,
  NavigationPlace,
  NavigationTarget,
} from "../navigation/request.ts";
import { usesInWords } from "../navigation/wording.ts";
import { type Call, type CommonFlags, wholeNumber, withCommonOptions } from "./call.ts";
import { forOneSearch, withEngine } from "./engine-session.ts";
import { printJson, printLines } from "./io.ts";
import { count, type Style, styleFor } from "./style.ts";

interface UsesFlags extends CommonFlags {
  repository?: string;
  atLeast: Certainty;
  places: number;
  callers?: number;
  definitions?: true;
  implementations?: true;
}

const HELP = `
Give a name, or a place where it is named:

  quern uses Cart.add
  quern uses -r shop src/cart.ts:12:10
  quern uses Cart.add --callers 2
  quern uses Store --implementations`;

export function addUses(program: Command, call: Call): void {
  withCommonOptions(program.command("uses"))
    .summary("find where a symbol is used")
    .description(
      "Find the uses of a symbol by the rules of its language. Exits with 1 if nothing is found.",
    )
    .argument("<target>", "a name, or a place as PATH:LINE:COLUMN")
    .option("-r, --repository <name>", "the repository that defines the symbol")
    .option("--at-least <certainty>", "resolved, likely or possible", "possible")
    .option("-m, --places <n>", "maximum number of places", wholeNumber, 1000)
    .option("--callers <depth>", "find the functions that call it, up to this depth", wholeNumber)
    .option("--definitions", "find its definitions")
    .option("--implementations", "find its implementations and overrides")
    .addHelpText("after", HELP)
    .action((target: string, flags: UsesFlags) =>
      withEngine(call.io, forOneSearch(flags.db), async (engine) => {
        const answer = await answerOf(engine, await targetOf(engine, target, flags), flags, call);
        if (flags.json) printJson(call.io, answer);
        else {
          const style = styleFor(call.io.stdout, call.io.env, "auto");
          printLines(
            call.io.stdout,
            answer.places.map((place) => lineOf(place, style)),
          );
          const isUses =
            !flags.definitions && !flags.implementations && flags.callers === undefined;
          const words = isUses
            ? usesInWords(target, answer)
            : [count(answer.places.length, "place")];
          printLines(call.io.stderr, words);
        }
        call.exit(answer.places.length > 0 ? 0 : 1);
      }),
    );
}

function answerOf(
  engine: Engine,
  target: NavigationTarget,
  { atLeast, places, callers, definitions, implementations }: UsesFlags,
  { io: { signal } }: Call,
): Promise<NavigationAnswer> {
  const options = { atLeast, limit: places, signal };
  if (definitions) return engine.definitionsOf(target, options);
  if (implementations) return engine.implementationsOf(target, options);
  if (callers !== undefined) return engine.callersOf(target, { ...options, depth: callers });
  return engine.usesOf(target, options);
}

async function targetOf(
  engine: Engine,
  text: string,
  { repository }: UsesFlags,
): Promise<NavigationTarget> {
  const place = /^(.+):(\d+):(\d+)$/.exec(text);
  if (!place) return { symbol: text, ...(repository !== undefined && { repository }) };
  const [, path, line, column] = place as unknown as [string, string, string, string];
  const name = repository ?? (await onlyRepository(engine));
  return { repository: name, path, line: Number(line), column: Number(column) };
}

async function onlyRepository(engine: Engine): Promise<string> {
  const [only, other] = await engine.repositories({ limit: 2 });
  if (only && !other) return only.name;
  throw invalid("uses: there are several repositories: name one with --repository");
}

function lineOf(
  { repository, path, range, certainty, use, inside }: NavigationPlace,
  style: Style,
): string {
  const { lineNumber, column } = range.start;
  const place = `${style.foreign(repository)}/${style.foreign(path)}:${lineNumber}:${column}`;
  const within = inside
    ? ` in ${inside.parent ? `${inside.parent.symbol}.` : ""}${inside.symbol}`
    : "";
  return `${style.heading(place)} ${certainty} ${use}${style.foreign(within)}`;
}
