import fc from "fast-check";
import * as linguist from "linguist-languages";
import { expect, test } from "vitest";
import { allLanguages, languageNamed, nearestLanguage } from "../../src/base/languages.ts";
import { editDistance } from "../../src/base/edit-distance.ts";

test.each<[string, string | undefined]>([
  ["Go", "Go"],
  ["go", "Go"],
  ["golang", "Go"],
  ["ts", "TypeScript"],
  ["tsx", "TSX"],
  ["js", "JavaScript"],
  ["jsx", "JavaScript"],
  ["C++", "C++"],
  ["CPP", "C++"],
  ["c", "C"],
  ["c#", "C#"],
  ["csharp", "C#"],
  ["rs", "Rust"],
  ["py", "Python"],
  ["rb", "Ruby"],
  ["kt", "Kotlin"],
  ["sh", "Shell"],
  ["bash", "Shell"],
  ["bash session", "ShellSession"],
  ["bash-session", "ShellSession"],
  ["hxx", "C++"],
  ["h", undefined],
  ["yml", "YAML"],
  ["md", "Markdown"],
  ["objective-c", "Objective-C"],
  ["objc", "Objective-C"],
  ["emacs lisp", "Emacs Lisp"],
  ["emacs-lisp", "Emacs Lisp"],
  ["dockerfile", "Dockerfile"],
  ["make", "Makefile"],
  ["proto", "Protocol Buffer"],
  ["pyhton", undefined],
  ["", undefined],
  ["constructor", undefined],
])("%j is %s", (name, want) => {
  expect(languageNamed(name)).toBe(want);
});

test("the table matches the installed package; otherwise run scripts/build-languages.mjs", () => {
  const show = (language: {
    name: string;
    extensions?: readonly string[];
    filenames?: readonly string[];
  }) =>
    [
      language.name,
      (language.extensions ?? []).join(" ").toLowerCase(),
      (language.filenames ?? []).join("/"),
    ].join(": ");
  expect(allLanguages().map(show)).toEqual(
    Object.values(linguist)
      .map(show)
      .toSorted((a, b) => (a.split(": ")[0]! < b.split(": ")[0]! ? -1 : 1)),
  );
});

test("every language is found by its name, and by each alias that is not the name of another", () => {
  for (const { name } of allLanguages()) expect(languageNamed(name.toUpperCase())).toBe(name);
  expect(allLanguages().length).toBeGreaterThan(700);
});

test.each<[string, string | undefined]>([
  ["pyhton", "Python"],
  ["typscript", "TypeScript"],
  ["javscript", "JavaScript"],
  ["rsut", "Rust"],
  ["kotln", "Kotlin"],
  ["golnag", "Go"],
  ["C ++", "C++"],
  ["qqqqqqq", undefined],
  ["x".repeat(1000), undefined],
  ["", undefined],
])("the nearest name to %j is %s", (name, want) => {
  expect(nearestLanguage(name)).toBe(want);
});

test("the edit distance equals that of a direct computation", () => {
  const slow = (a: string, b: string): number => {
    if (a === "" || b === "") return a.length + b.length;
    const same = a.at(-1) === b.at(-1) ? 0 : 1;
    const ways = [
      slow(a.slice(0, -1), b) + 1,
      slow(a, b.slice(0, -1)) + 1,
      slow(a.slice(0, -1), b.slice(0, -1)) + same,
    ];
    const isSwap = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
    return Math.min(...ways, isSwap ? slow(a.slice(0, -2), b.slice(0, -2)) + 1 : Infinity);
  };
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 5 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(editDistance(a, b)).toBe(slow(a, b));
    }),
  );
});
