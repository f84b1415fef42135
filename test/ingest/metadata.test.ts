import { expect, test } from "vitest";
import { directory, type DirectoryOptions } from "../../src/ingest/sources/directory.ts";
import { documents, type DocumentsOptions } from "../../src/ingest/sources/documents.ts";

const good = { name: "r", files: [] };

test.each<[object, RegExp]>([
  [{ ...good, rank: 1.1 }, /rank must be a number from 0 to 1, not 1.1/],
  [{ ...good, rank: Number.NaN }, /rank must be/],
  [{ ...good, rank: "1" }, /rank must be a number from 0 to 1, not "1"/],
  [{ ...good, codeHostType: "Github" }, /codeHostType must be one of github, .* not "Github"/],
  [{ ...good, displayName: "" }, /displayName must be a non-empty string/],
  [{ ...good, webUrl: "example.com" }, /webUrl must be an http or https URL, not "example.com"/],
  [{ ...good, webUrl: "javascript:alert(1)" }, /webUrl must be an http/],
  [{ ...good, archived: 1 }, /archived must be a boolean, not 1/],
  [{ ...good, public: "yes" }, /public must be a boolean/],
  [{ ...good, fork: null }, /fork must be a boolean/],
  [{ ...good, publik: true }, /unknown option "publik"; did you mean public\?/],
  [{ ...good, name: "" }, /must not be empty/],
  [{ ...good, name: 7 }, /must be a string/],
  [{ files: [] }, /must be a string/],
  [{ ...good, name: "a\nb" }, /control characters: "a\\nb"/],
  [{ ...good, name: "a\u0085b" }, /control characters/],
  [{ ...good, name: "\0" }, /control characters/],
  [{ ...good, name: " a" }, /white space: " a"/],
  [{ ...good, name: "a\u00a0" }, /white space/],
  [{ ...good, name: "\ud800" }, /well-formed/],
  [{ ...good, name: "é".repeat(257) }, /longer than 512 bytes/],
  [{ ...good, name: ".." }, /must not have the parts \. or \.\.: "\.\."/],
  [{ ...good, name: "a b/../c" }, /must not have the parts/],
  [{ ...good, name: "./a" }, /must not have the parts/],
  [{ name: "r" }, /either files or changes/],
  [{ ...good, changes: [] }, /either files or changes/],
  [{ name: "r", files: "abc" }, /files must be an iterable of documents, not "abc"/],
  [{ name: "r", changes: {} }, /changes must be an iterable of documents, not an object/],
])("%j is rejected", (options, message) => {
  const refused = expect(() => documents(options as DocumentsOptions));
  refused.toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  expect(() => documents(options as DocumentsOptions)).toThrow(message);
});

test("metadata is passed on without undefined fields", () => {
  const given = { displayName: "R", rank: 0, public: false, webUrl: "https://example.com/r" };
  const options = { name: "github.com/a/r", files: [], ...given, fork: undefined };
  const source = documents(options as unknown as DocumentsOptions);
  expect(source.name).toBe("github.com/a/r");
  expect(source.metadata).toEqual(given);
  expect(Object.keys(source.metadata)).not.toContain("fork");
});

test.each<[unknown, unknown, RegExp]>([
  ["", {}, /path must be a non-empty string/],
  ["a\0", {}, /path must be a non-empty string/],
  [undefined, {}, /path must be a non-empty string/],
  ["/", {}, /must not be empty; give the option name/],
  [".", { ignore: "x" }, /ignore must be an array/],
  [".", { ignore: [1] }, /ignore must be an array/],
  [".", { gitignore: "no" }, /gitignore must be a boolean/],
  [".", { rank: -1 }, /rank/],
  [".", { files: [] }, /unknown option "files"/],
  [".", null, /options must be an object/],
])("directory(%j, %j) is rejected", (path, options, message) => {
  const make = () => directory(path as string, options as DirectoryOptions);
  expect(make).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  expect(make).toThrow(message);
});

test("the default name of a directory is that of its folder", () => {
  expect(directory("/some/where/").name).toBe("where");
  expect(directory("/some/where", { name: "x" }).name).toBe("x");
});
