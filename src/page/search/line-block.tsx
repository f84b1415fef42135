/** Draws consecutive lines of a file. Each line is a link to itself. */

import { useMemo } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import type { ColourLines } from "../colours/colour-lines.ts";
import { CodeText } from "./code-text.tsx";
import type { Line } from "./lines.ts";

interface BlockProps {
  lines: readonly Line[];
  /** The file, without lines. */
  address: FileView;
  /** The side of a change. Absent if the lines are no change. */
  side?: "added" | "removed" | undefined;
  /** Colours the lines. Absent while the grammar is loading, and for languages that have none. */
  colour?: ColourLines | undefined;
  /** Whether these are the best lines of their file. */
  isBest?: boolean;
}

const SIGNS = { added: "+", removed: "−" } as const;

export function Block({ lines, address, side, colour, isBest = false }: BlockProps) {
  const { router } = usePage();
  const tokens = useMemo(() => colour?.(lines.map(({ text }) => text)), [lines, colour]);
  return (
    <div
      class={`block${side === undefined ? "" : " diff"}${isBest ? " best" : ""}`}
      title={isBest ? "The best lines of this file" : undefined}
    >
      {lines.map(({ number, text, marks, symbol }, index) => (
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
            <CodeText text={text} marks={marks} tokens={tokens?.[index] ?? []} />
          </code>
          {symbol && <span class="tag kind">{symbol.kind}</span>}
        </a>
      ))}
    </div>
  );
}
