/**
 * Separates options from the words of a query. People search for flags (`-Wall`), and filters may begin with a dash
 * (`-lang:json`). So a word with a dash is an option only if it has one of these forms:
 *
 *     --context 2   --context=2      an existing long name, or one that is misspelt
 *     -C 2   -C2   -il   -lC 2       existing letters; at most three, no letter twice
 *     -tgo   -g'*.ts'                a language, a glob
 *
 * Everything else belongs to the query, and so does everything after `--`. If a long name is an option of other tools
 * and has a value (`--limit 3`, `--limit=3`), it is rejected, as foreign-options.ts explains.
 */

import type { Command, Option } from "commander";
import { languageNamed } from "../base/languages.ts";
import { nearestWord } from "../base/edit-distance.ts";
import { QuernError } from "../base/errors.ts";
import { nameHere } from "./foreign-options.ts";

/** Returns the same arguments in another order. Options come first, then `--`, then the words of the query. */
export function optionsFirst(command: Command, argv: readonly string[]): string[] {
  const options: string[] = [];
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!;
    if (word === "--") {
      words.push(...argv.slice(at + 1));
      break;
    }
    const kind = kindOf(word, command.options);
    if (kind === "word") refuseForeign(word, argv[at + 1]);
    if (kind === "word") words.push(word);
    else options.push(word);
    if (kind === "option with the next" && at + 1 < argv.length) options.push(argv[++at]!);
  }
  return words.length > 0 ? [...options, "--", ...words] : options;
}

/** Throws if the word is an option of another tool, with its value after `=` or in the next argument. */
function refuseForeign(word: string, next: string | undefined): void {
  const [, name, value = next] = /^--([a-z][a-z-]*)(?:=(.*))?$/.exec(word) ?? [];
  if (name === undefined || value === undefined || value.startsWith("-")) return;
  const here = nameHere(name);
  if (here === undefined) return;
  const message = `--${name} is not an option of quern search; use ${here} instead. To search for the text, write -- before it`;
  throw new QuernError("INVALID_REQUEST", message);
}

type Kind = "word" | "option" | "option with the next";

function kindOf(word: string, options: readonly Option[]): Kind {
  if (!/^-./.test(word) || /[\s:("]/.test(word.split("=")[0]!)) return "word";
  if (word === "-h" || word === "--help") return "option";
  return word.startsWith("--") ? kindOfLong(word, options) : kindOfShort(word.slice(1), options);
}

function kindOfLong(word: string, options: readonly Option[]): Kind {
  const [name] = word.split("=", 1);
  const option = options.find(({ long }) => long === name);
  if (option) return option.required && !word.includes("=") ? "option with the next" : "option";
  const names = options.map(({ long }) => long?.slice(2) ?? "");
  return nearestWord(name!.slice(2), names) === undefined ? "word" : "option"; // a misspelt option is reported
}

/** The maximum number of options that may share one dash, as in `-il`. */
const MOST_LETTERS = 3;

function kindOfShort(letters: string, options: readonly Option[]): Kind {
  const optionOf = (letter: string) => options.find(({ short }) => short === `-${letter}`);
  const first = optionOf(letters[0]!);
  if (!first) return "word";
  if (letters.length === 1) return first.required ? "option with the next" : "option";
  if (first.required) return isValueOf(first, letters.slice(1)) ? "option" : "word";
  const run = Array.from(letters);
  const found = run.map(optionOf);
  const isRun =
    run.length <= MOST_LETTERS &&
    new Set(run).size === run.length &&
    found.every((option, n) => option && (!option.required || n === run.length - 1));
  if (!isRun) return "word";
  return found.at(-1)!.required ? "option with the next" : "option";
}

/** Whether `value` may follow the option's letter without a space, as in `-C2`. */
function isValueOf(option: Option, value: string): boolean {
  if (option.short === "-t") return languageNamed(value) !== undefined;
  if (option.short === "-g") return /[*?[{./]/.test(value);
  return option.short !== "-e" && /^=?\d+$/.test(value);
}
