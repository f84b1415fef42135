/**
 * Limits how many searches run or wait for their reader. One more is refused at once, because a queue would
 * only make all of them late.
 */

import { overloaded } from "./refusal.ts";

export interface Slots {
  /** Takes a slot. Returns the function that releases it, which may be called twice. */
  take(): () => void;
}

export function createSlots(most: number): Slots {
  let taken = 0;
  return {
    take() {
      if (taken >= most) throw overloaded();
      taken++;
      let held = true;
      return () => {
        if (held) taken--;
        held = false;
      };
    },
  };
}
