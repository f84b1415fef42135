/**
 * Draws a column with the authors of the lines, before the line numbers. An author is shown only on the first of
 * consecutive lines from the same commit.
 */

import type { Extension } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";
import { plainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import type { Blame } from "../wire/answers.ts";

class CommitMarker extends GutterMarker {
  readonly #text: string;
  readonly #title: string;
  readonly #href: string;

  constructor(text: string, title: string, href: string) {
    super();
    this.#text = text;
    this.#title = title;
    this.#href = href;
  }

  override toDOM(): Node {
    const link = document.createElement("a");
    link.textContent = this.#text;
    link.title = this.#title;
    link.href = this.#href;
    link.tabIndex = -1; // the gutter is hidden from screen readers, which can read the file's history instead
    return link;
  }
}

export function blameGutter(
  { ranges, commits }: Blame,
  linkOf: (hash: string) => string,
): Extension {
  const markers = new Map<number, CommitMarker>();
  for (const { hash, startLine } of ranges) {
    const { message = "", authorName = "", date = "" } = commits[hash] ?? {};
    const text = plainText(`${authorName}, ${ago(date)}`);
    const title = plainText(`${hash.slice(0, 10)} ${message}`);
    markers.set(startLine, new CommitMarker(text, title, linkOf(hash)));
  }
  return gutter({
    class: "cm-blame",
    lineMarker: ({ state }, { from }) => markers.get(state.doc.lineAt(from).number) ?? null,
  });
}
