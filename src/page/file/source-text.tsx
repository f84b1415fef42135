/** The text of a file. The code that draws it is loaded here. */

import { useEffect, useRef } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import type { Source } from "../wire/answers.ts";
import type { CodeView } from "./code-view.ts";

interface SourceTextProps {
  source: Source;
  address: FileView;
  onName: (name: string) => void;
}

export function SourceText({ source, address, onName }: SourceTextProps) {
  const { router } = usePage();
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(undefined);
  const latest = useRef(address);
  latest.current = address;
  useEffect(() => {
    let isHere = true;
    const open = async (): Promise<void> => {
      const { openCode } = await import("./code-view.ts");
      if (!isHere) return;
      view.current = openCode(parent.current!, {
        text: source.source,
        language: source.language,
        label: source.path,
        onLines: (lines) => router.go({ ...latest.current, lines }, "replace"),
        onName,
      });
      view.current.show(latest.current.lines);
      parent.current!.dataset["ready"] = "";
    };
    void open();
    return () => {
      isHere = false;
      view.current?.destroy();
      view.current = undefined;
    };
  }, [source]);
  useEffect(() => view.current?.show(address.lines), [address.lines?.from, address.lines?.to]);
  return <div ref={parent} class="code" />;
}
