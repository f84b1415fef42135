/** Long lists are drawn a part with each frame, so that none takes long. */

import { useEffect, useState } from "preact/hooks";

interface Drawing {
  /** Says which list it is; another one begins anew. */
  list: string;
  count: number;
  /** So many with each frame. */
  step: number;
  /** So many with the first. */
  least?: number;
}

/** Returns how many of a list's entries are drawn so far. */
export function useDrawn({ list, count, step, least = step }: Drawing): number {
  const [known, setKnown] = useState({ list, drawn: 0 });
  const drawn = known.list === list ? Math.max(known.drawn, least) : least;
  useEffect(() => {
    if (drawn >= count) return;
    const next = { list, drawn: drawn + step };
    const frame = requestAnimationFrame(() => setKnown(next));
    return () => cancelAnimationFrame(frame);
  }, [list, drawn, count]);
  return Math.min(drawn, count);
}
