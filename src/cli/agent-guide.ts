/** The section of AGENTS.md that tells a coding agent when to use which tool of quern. */

const BEGIN = "<!-- quern: begin -->";
const END = "<!-- quern: end -->";

const GUIDE = `${BEGIN}

## Search in this code with quern

- A question in words, a symbol, a text: \`search\`. It counts exactly, and "Nothing found" is certain.
- Where something is defined, with its body: \`definitions\`. Who uses or calls it: \`references\`.
- A file by a part of its name: \`find_files\`. What a file or folder defines: \`outline\`.
- Lines of a file: \`read\`. Who changed what, and when: \`history\`.

If an answer contains INCOMPLETE, do what it asks for before you conclude that something does not exist.

${END}
`;

/** Returns the text with the section at its end, or in place of an older one. */
export function guideIn(text: string): string {
  const rest = guideOut(text);
  const gap = rest === "" ? "" : rest.endsWith("\n") ? "\n" : "\n\n";
  return rest + gap + GUIDE;
}

/** Returns the text without the section and the empty line before it. */
export function guideOut(text: string): string {
  const start = text.indexOf(BEGIN);
  const end = text.indexOf(END, start);
  if (start < 0 || end < 0) return text;
  const before = text.slice(0, start).replace(/(\r?\n)\r?\n$/, "$1");
  return before + text.slice(end + END.length).replace(/^\r?\n/, "");
}
