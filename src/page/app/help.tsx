/** Explains the keys and the query language. */

import { Dialog } from "../frame/dialog.tsx";
import { KEYS } from "../frame/keyboard.ts";

export const QUERIES: readonly (readonly [query: string, what: string])[] = [
  ["timeout retry", "files that contain both words"],
  ['"return nil, err"', "exactly these words"],
  ["open or close", "one of them, or both"],
  ["file:\\.ts$ -file:test", "only these paths, without those"],
  ["repo:shop lang:go", "of a repository, in a language"],
  ["sym:^parse", "definitions by name"],
  ["rev:release", "on another branch or tag"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Help" onClose={onClose}>
      <div class="dialog-head">
        <h2>Keys</h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h2>Queries</h2>
      <dl class="keys">
        {QUERIES.map(([query, what]) => (
          <div key={query}>
            <dt>
              <code>{query}</code>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
