/**
 * Reads default values of options from the nearest quern.json in the current folder or a parent folder. Its field
 * `db` names the data directory. Its field `command` contains the options of each command by their long names.
 * Options on the command line override those in the file. Somebody else may have put the file into a parent folder.
 * So the file can neither open a server to others, nor make a command write outside the folder of the file.
 */

import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { InvalidArgumentError, type Command, type Option } from "commander";
import { nearestWord } from "../base/edit-distance.ts";
import { QuernError } from "../base/errors.ts";
import { pathWithin } from "../base/paths.ts";

const NAME = "quern.json";
/** The fields that the file may have, including those of a sync configuration. */
const FIELDS = ["$schema", "db", "command", "connections", "sync"];
const MOST_BYTES = 2 ** 20;

/** Options that the file may not set, because they open the server to others or send tokens to an address. */
const TYPED = [
  "anonymous",
  "host",
  "public",
  "public-url",
  "trust-proxy",
  "cors",
  "mcp-host",
  "db",
  "sync",
  "cluster",
  "metrics",
];

/**
 * Finds a quern.json and sets the options that it gives for the command. Resolves to a function that returns the file's
 * data directory, or to undefined if the file names none. The function throws if that directory is outside the file's
 * folder.
 */
export async function applyDefaults(command: Command): Promise<(() => string) | undefined> {
  const file = findFile();
  if (file === undefined) return undefined;
  const { parseWithComments } = await import("../sync/config/parse.ts");
  const given = await parseWithComments(file, textOf(file));
  const fields = record(given, file, "the file");
  const unknown = Object.keys(fields).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined)
    throw invalid(file, `there is no field ${quoted(unknown)}${advice(unknown, FIELDS)}`);
  const { db, command: all = {} } = fields;
  if (db !== undefined && typeof db !== "string") throw invalid(file, "db must be a string");
  const sections = record(all, file, "command");
  const parent = command.parent!;
  const isNested = parent.parent !== null; // nested commands such as `keys create` use only db
  const program = parent.parent ?? parent;
  const names = program.commands.map((one) => one.name());
  for (const name of Object.keys(sections))
    if (!names.includes(name))
      throw invalid(file, `there is no command ${quoted(name)}${advice(name, names)}`);
  const name = isNested ? "" : command.name();
  for (const [key, value] of Object.entries(record(sections[name] ?? {}, file, `command.${name}`)))
    setOption(command, { file, key, value });
  return db === undefined ? undefined : () => placeOf(file, db);
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 80));

/**
 * Returns the path of the data directory that the file names. Throws if this directory is outside the file's folder.
 * Otherwise, the author of the file could make the command write anywhere.
 */
function placeOf(file: string, db: string): string {
  const folder = realpathSync(dirname(file));
  const place = resolve(folder, db);
  if (pathWithin(folder, realPlace(place)) !== undefined) return place;
  const why = "because the file may come with somebody else's folder";
  throw invalid(
    file,
    `db must be inside the folder of the file, ${why}; type --db ${place}, or set QUERN_DB`,
  );
}

/** Resolves the symlinks of a path as far as the path exists. */
function realPlace(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return join(realPlace(dirname(path)), basename(path));
  return existsSync(path) ? realpathSync(path) : sep; // a broken symlink counts as outside every folder
}

function findFile(): string | undefined {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = join(folder, NAME);
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Returns the text of the file. Throws if it is not a regular file, because a pipe may block and a device may have no
 * end.
 */
function textOf(file: string): string {
  const stat = statSync(file);
  if (!stat.isFile()) throw invalid(file, "it is not a regular file");
  if (stat.size > MOST_BYTES) throw invalid(file, `it is larger than ${MOST_BYTES} bytes`);
  return readFileSync(file, "utf8");
}

interface Setting {
  readonly file: string;
  readonly key: string;
  readonly value: unknown;
}

function setOption(command: Command, setting: Setting): void {
  const { file, key } = setting;
  const place = `command.${command.name()}.${key}`;
  if (TYPED.includes(key))
    throw invalid(file, `${place}: this option must be given on the command line`);
  const option = command.options.find((one) => one.long === `--${key}`);
  if (option === undefined) {
    const names = command.options.map(({ long }) => long?.slice(2) ?? "");
    throw invalid(file, `${place}: there is no such option${advice(key, names)}`);
  }
  const attribute = option.attributeName();
  const source = command.getOptionValueSource(attribute);
  if (source !== undefined && source !== "default") return; // the option was on the command line
  const value = valueOf(option, setting, place);
  if (value !== undefined) command.setOptionValueWithSource(attribute, value, "config");
}

/** Returns the value of an option, or undefined if the setting has no effect. */
function valueOf(option: Option, { file, value }: Setting, place: string): unknown {
  if (option.isBoolean()) {
    if (typeof value !== "boolean") throw invalid(file, `${place} must be true or false`);
    return value ? !option.negate : undefined;
  }
  const texts = Array.isArray(value) ? value : [value];
  let taken: unknown = option.variadic ? [] : undefined;
  for (const text of texts) {
    if (typeof text !== "string" && typeof text !== "number")
      throw invalid(file, `${place} must be a string or a number, or a list of them`);
    try {
      taken = option.parseArg ? option.parseArg(String(text), taken) : String(text);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw invalid(file, `${place}: ${error.message}`);
    }
  }
  return taken;
}

function record(value: unknown, file: string, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw invalid(file, `${place} must be an object`);
}

function advice(word: string, words: readonly string[]): string {
  const nearest = nearestWord(word, words);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

const invalid = (file: string, what: string): QuernError =>
  new QuernError("INVALID_REQUEST", `${file}: ${what}`);
