/** Draws the list of completions below the search box. */

import { PlainText } from "../frame/plain-text.tsx";
import type { Completion } from "./completions.ts";

interface CompletionsProps {
  id: string;
  items: readonly Completion[];
  active: number | undefined;
  onTake: (text: string) => void;
}

export const optionId = (list: string, index: number): string => `${list}-${index}`;

export function Completions({ id, items, active, onTake }: CompletionsProps) {
  const onMouseDown = (event: MouseEvent, text: string): void => {
    event.preventDefault(); // the box keeps the focus
    onTake(text);
  };
  return (
    <ul
      id={id}
      class="completions"
      role="listbox"
      aria-label="Completions"
      hidden={items.length === 0}
    >
      {items.map(({ text, label, detail }, index) => (
        <li
          key={text}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => onMouseDown(event, text)}
        >
          <span class="label">
            <PlainText text={label} />
          </span>
          <span class="muted">
            <PlainText text={detail} />
          </span>
        </li>
      ))}
    </ul>
  );
}
