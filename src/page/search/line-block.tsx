/** Draws consecutive lines of a file. Each line is a link to itself. */

import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText } from "../frame/plain-text.tsx";
import type { Line } from "./lines.ts";

interface BlockProps {
  lines: readonly Line[];
  /** The file, without lines. */
  address: FileView;
  /** The side of a change. Absent if the lines are no change. */
  side?: "added" | "removed" | undefined;
}

const SIGNS = { added: "+", removed: "−" } as const;

export function Block({ lines, address, side }: BlockProps) {
  const { router } = usePage();
  return (
    <div class={side === undefined ? "block" : `block diff`}>
      {lines.map(({ number, text, marks, symbol }) => (
        <a
          key={number}
          class={`line${marks.length > 0 ? " match" : ""}${side === undefined ? "" : ` ${side}`}`}
          tabIndex={-1}
          data-result={marks.length > 0 ? true : undefined}
          aria-label={text.trim() === "" ? `Line ${number}, blank` : undefined}
          href={router.href({ ...address, lines: { from: number, to: number } })}
        >
          <span class="number">{number}</span>
          <code>
            {side !== undefined && <span class="sign">{SIGNS[side]}</span>}
            <MarkedText text={text} marks={marks} />
          </code>
          {symbol && <span class="tag kind">{symbol.kind}</span>}
        </a>
      ))}
    </div>
  );
}
