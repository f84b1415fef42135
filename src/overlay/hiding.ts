/**
 * Makes views in which some files do not exist, and some texts are replaced by a mask of the same length. Such a view
 * is an overlay over another view, in all revisions. So searches, counts, definitions and reads need no further care:
 * their answers are those of an index that has never had these files and texts.
 *
 * Two searches of the view find what is to be hidden. They run once for each catalog, not for each call.
 */

import { createHash } from "node:crypto";
import { getOrMake } from "../base/get-or-make.ts";
import { quote } from "../query/ast.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import type { Catalog } from "../store/catalog/catalog.ts";
import type { View } from "../store/catalog/view.ts";
import { MOST_OVERLAY_BYTES, type CheckedDocument } from "./documents.ts";
import { maskOf, pathTest, type HiddenText } from "./mask.ts";
import type { Overlays } from "./overlays.ts";

export interface HidingView {
  readonly view: View;
  /** The number of files that are hidden in each revision, by the id of the repository and the revision's name. */
  readonly hiddenFiles: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

export interface HidingOptions {
  readonly overlays: Overlays;
  readonly search: (view: View, request: SearchRequest) => Promise<SearchResponse>;
  readonly read: (
    view: View,
    file: { readonly repository: string; readonly path: string; readonly revision: string },
  ) => Promise<{ readonly bytes: Uint8Array } | undefined>;
}

/** The number of ranges that one page of a search returns. */
const PAGE = 10_000;

export class Hiding {
  readonly #options: HidingOptions;
  readonly #made = new WeakMap<Catalog, Map<HiddenText, Promise<HidingView>>>();

  constructor(options: HidingOptions) {
    this.#options = options;
  }

  /** Resolves to a view of the same state without what is hidden. Rejects if the state no longer exists. */
  over(view: View, hidden: HiddenText): Promise<HidingView> {
    const known = getOrMake(
      this.#made,
      view.catalog,
      () => new Map<HiddenText, Promise<HidingView>>(),
    );
    const found = known.get(hidden);
    if (found) return found;
    const made = this.#make(view, hidden);
    known.set(hidden, made);
    made.catch(() => known.delete(hidden));
    return made;
  }

  async #make(view: View, hidden: HiddenText): Promise<HidingView> {
    if (view.catalog.manifest.segments.length === 0) return { view, hiddenFiles: new Map() };
    const named = `file:${quote(`(?i)${hidden.paths}`)} -file:${quote(`(?i)${hidden.exceptPaths}`)}`;
    const documents: CheckedDocument[] = [];
    const hiddenFiles = new Map<number, Map<string, number>>();
    const remove = ({ repository, repositoryId, fileName, branches = [] }: FileResult): void => {
      documents.push({ repository, path: fileName.text, revisions: branches, text: undefined });
      const counts = hiddenFiles.get(repositoryId) ?? new Map<string, number>();
      hiddenFiles.set(repositoryId, counts);
      for (const branch of branches) counts.set(branch, (counts.get(branch) ?? 0) + 1);
    };
    for (const file of await this.#find(view, { query: `rev:* ${named}` })) remove(file);
    const valued = await this.#find(view, {
      query: `rev:* -(${named}) content:${quote(hidden.texts)}`,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    });
    let bytes = 0;
    for (const file of valued) {
      const masked = await this.#masked(view, file);
      bytes += masked?.length ?? 0;
      if (!masked || bytes > MOST_OVERLAY_BYTES) {
        remove(file);
        continue;
      }
      const { repository, fileName, branches = [] } = file;
      const path = fileName.text;
      const hash = createHash("sha256").update(`${repository}\0${path}\0`).update(masked);
      const text = { key: hash.digest("base64"), content: { bytes: masked }, bytes: masked.length };
      documents.push({ repository, path, revisions: branches, text });
    }
    return {
      view: hiddenView(await this.#options.overlays.above(view, documents), hidden),
      hiddenFiles,
    };
  }

  /** Finds all files, each with all its ranges. */
  async #find(
    view: View,
    request: Pick<SearchRequest, "query" | "isRegexEnabled" | "isCaseSensitivityEnabled">,
  ): Promise<FileResult[]> {
    const files = new Map<string, FileResult>();
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await this.#options.search(view, { ...request, matches: PAGE, after });
      for (const file of page.files) {
        const key = JSON.stringify([file.repositoryId, file.fileName.text, file.branches]);
        const known = files.get(key);
        files.set(key, known ? { ...known, chunks: [...known.chunks, ...file.chunks] } : file);
      }
      after = page.nextCursor;
    }
    return [...files.values()];
  }

  /** Resolves to the bytes of a file with masks in place of its ranges, or to undefined if it cannot be read. */
  async #masked(view: View, file: FileResult): Promise<Buffer | undefined> {
    const { repository, fileName, branches = [], chunks } = file;
    const place = { repository, path: fileName.text, revision: branches[0]! };
    const content = await this.#options.read(view, place);
    if (!content) return undefined;
    const bytes = Buffer.from(content.bytes);
    for (const { matchRanges } of chunks)
      for (const { start, end } of matchRanges) {
        const text = bytes.toString("latin1", start.byteOffset, end.byteOffset);
        bytes.write(maskOf(text), start.byteOffset, "latin1");
      }
    return bytes;
  }
}

/** Leaves out hidden files that are listed as skipped, such as binary ones. */
function hiddenView(view: View, hidden: HiddenText): View {
  const isHidden = pathTest(hidden);
  return {
    ...view,
    skipped: (id, indexed) => view.skipped(id, indexed).filter(({ path }) => !isHidden(path)),
  };
}
