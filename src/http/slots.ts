/**
 * How many searches run at once, or wait for their reader. One too many is refused at once: a queue
 * would only make all of them late.
 */

import { overloaded } from "./refusal.ts";

export interface Slots {
  /** Returns what gives the slot back; calling that again does nothing. */
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
