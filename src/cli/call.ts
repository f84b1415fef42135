/** Defines the options that several commands share, and how a command returns its exit code. */

import { type Command, InvalidArgumentError } from "commander";
import type { ExitCode, Io } from "./io.ts";

export interface Call {
  readonly io: Io;
  readonly exit: (code: ExitCode) => void;
}

export interface CommonFlags {
  db: string;
  cluster?: string;
  json?: true;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option("--db <dir>", "data directory; default: QUERN_DB, or .quern here or in a parent folder")
    .option("--json", "print JSON");
}

/** Adds the option --cluster to commands that also work on a cluster. */
export const withCluster = (command: Command): Command =>
  command.option("--cluster <file>", "file that describes a cluster; use it instead of --db");

export interface WaitFlags {
  wait?: number;
}

/** Adds the option --wait to commands that write to the index, because only one such command may write at a time. */
export const withWait = (command: Command): Command =>
  command.option(
    "--wait <ms>",
    "wait this long for another process to stop writing; default: 0",
    wholeNumber,
  );

export const lockOptions = ({ wait }: WaitFlags): { lockTimeoutMs?: number } =>
  wait === undefined ? {} : { lockTimeoutMs: wait };

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: string[] | false | undefined): string[] => [
  ...(before || []),
  value,
];

export function wholeNumber(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError("It must be a whole number of 0 or more.");
  return number;
}

/** Returns a parser of whole numbers that are not below `least`. */
export const wholeNumberFrom =
  (least: number) =>
  (value: string): number => {
    const number = wholeNumber(value);
    if (number < least) throw new InvalidArgumentError(`It must be ${least} or more.`);
    return number;
  };

export function port(value: string): number {
  const number = wholeNumber(value);
  if (number > 65_535) throw new InvalidArgumentError("A port is at most 65535.");
  return number;
}

export function date(value: string): Date {
  const date = new Date(value);
  if (Number.isNaN(date.getTime()))
    throw new InvalidArgumentError("It must be a date such as 2030-12-31.");
  return date;
}

export function oneOf<Word extends string>(words: readonly Word[]): (value: string) => Word {
  return (value) => {
    const word = words.find((known) => known === value);
    if (word === undefined)
      throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
    return word;
  };
}
