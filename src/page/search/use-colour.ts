/** Loads the function that colours lines of a language. */

import { useEffect, useState } from "preact/hooks";
import type { ColourLines } from "../colours/colour-lines.ts";

const loaded = new Map<string, Promise<ColourLines | undefined>>();

/** Returns the function when it is loaded. With `isWanted` false, loads nothing. */
export function useColour(language: string, isWanted: boolean): ColourLines | undefined {
  const [colour, setColour] = useState<{ language: string; lines: ColourLines | undefined }>();
  useEffect(() => {
    if (!isWanted || language === "") return;
    let isHere = true;
    void load(language).then((lines) => {
      if (isHere) setColour({ language, lines });
    });
    return () => {
      isHere = false;
    };
  }, [language, isWanted]);
  return colour?.language === language ? colour.lines : undefined;
}

function load(language: string): Promise<ColourLines | undefined> {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const loading = import("../colours/colour-lines.ts").then(
    ({ colourFor }) => colourFor(language),
    () => undefined, // a newer server has this code under another name
  );
  loaded.set(language, loading);
  return loading;
}
