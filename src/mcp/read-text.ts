/** Reads a file whose name a model has written, either as `path` or as `repository:path`. */

import { QuernError } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import { quote } from "../query/ast.ts";
import { named } from "./delimit.ts";
import { partialWords } from "./partial-words.ts";
import { HIDDEN_WORDS } from "./secrets.ts";
import { escapeExpression, findRepository, searchOptions } from "./scope.ts";
import { TextLines } from "./text-lines.ts";
import type { ToolContext } from "./tool.ts";

export interface FileAsked {
  readonly file: string;
  readonly repository: string | undefined;
  readonly revision: string | undefined;
}

export interface FileText {
  readonly repository: string;
  readonly path: string;
  readonly revision: string;
  readonly content: string;
  readonly lines: TextLines;
}

const MOST_LIKELY = 5;

/**
 * Reads the file with this path, or the only file whose path ends with it. If there are several such files, throws an
 * error that lists them. If there is none, throws an error that says so.
 */
export async function readText(asked: FileAsked, context: ToolContext): Promise<FileText> {
  const places = await placesOf(asked, context);
  const [place] = places;
  if (place && places.length === 1) {
    const { viewer } = context;
    const { revision } = asked;
    const found = await context.engine.read(
      { ...place, ...(revision !== undefined && { revision }) },
      viewer ? { viewer } : {},
    );
    if (found) {
      const { revision: name, content, bytes } = found;
      const lines = await TextLines.of(bytes, newPause({ signal: context.signal }));
      return { ...place, revision: name, content, lines };
    }
  }
  const listed = places
    .slice(0, MOST_LIKELY)
    .map(({ repository, path }) => named(`${repository}:${path}`));
  const words =
    places.length > 1
      ? `${JSON.stringify(asked.file)} could be any of: ${listed.join(", ")}. Give one of these as file.`
      : `there is no text of ${JSON.stringify(asked.file)}${asked.revision ? ` in revision ${named(asked.revision)}` : ""}: it does not exist, or its content is not searchable (binary, too large).${context.hidesSecrets ? ` ${HIDDEN_WORDS}` : ""}`;
  throw new QuernError("INVALID_REQUEST", words);
}

interface FilePlace {
  readonly repository: string;
  readonly path: string;
}

async function placesOf(asked: FileAsked, context: ToolContext): Promise<FilePlace[]> {
  const { revision } = asked;
  const [, prefix, rest] = /^([^:]+):(.+)$/s.exec(asked.file) ?? [];
  const repository = asked.repository ?? prefix;
  const path = (asked.repository === undefined && rest !== undefined ? rest : asked.file).replace(
    /^\.?\//,
    "",
  );
  const { id } =
    repository === undefined ? { id: undefined } : await findRepository(repository, context);
  const viewer = id === undefined ? context.viewer : { repositoryIds: new Set([id]) };
  const named = revision ? ` rev:${quote(revision)}` : "";
  const find = async (expression: string) => {
    const request = {
      query: `file:${quote(expression)}${named}`,
      matches: 20,
      isCaseSensitivityEnabled: true,
    };
    const response = await context.engine.search(request, searchOptions(context, viewer));
    const [partial] = partialWords(response);
    if (response.files.length === 0 && partial) throw new QuernError("INVALID_REQUEST", partial);
    return response.files.map((file) => ({
      repository: file.repository,
      path: file.fileName.text,
    }));
  };
  const exact = await find(`^${escapeExpression(path)}$`);
  return exact.length > 0 ? exact : find(`(?:^|/)${escapeExpression(path)}$`);
}
