/** Shows the text of a file, and loads the code that draws it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { usePage } from "../frame/page-context.ts";
import { hasNoFocus } from "../frame/place.ts";
import { plainText } from "../frame/plain-text.tsx";
import type { Source } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import type { CodeView } from "./code-view.ts";

interface SourceTextProps {
  source: Source;
  address: FileView;
}

export function SourceText({ source, address }: SourceTextProps) {
  const { client, router } = usePage();
  const [isReady, setReady] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<CodeView>(undefined);
  const latest = useRef(address);
  latest.current = address;
  useEffect(() => {
    let isHere = true;
    const open = async (): Promise<void> => {
      const { openCode } = await import("./code-view.ts");
      setOutdated(false);
      if (!isHere || !parent.current) return; // another view is open by now
      view.current = openCode(parent.current, {
        text: source.source,
        language: source.language,
        label: plainText(source.path),
        onLines: (lines) => router.go({ ...latest.current, lines }, "replace"),
        onName: (name) =>
          router.go({ ...latest.current, name }, latest.current.name ? "replace" : "push"),
      });
      view.current.show(latest.current.lines);
      if (hasNoFocus()) view.current.focus(); // so that the arrow keys scroll the text
      setReady(true);
    };
    open().catch(() => setOutdated(true)); // a newer server has this code under another name
    return () => {
      isHere = false;
      setReady(false);
      view.current?.destroy();
      view.current = undefined;
    };
  }, [source]);
  const { repository, ref, path, blame: isBlamed } = address;
  const blame = useAsked(isBlamed ? JSON.stringify([repository, ref, path]) : undefined, (signal) =>
    client.blame(address, signal),
  );
  useEffect(() => {
    const told = isBlamed && blame.state === "there" ? blame.value : undefined;
    view.current?.blame(told, (hash) => router.href({ view: "commit", repository, hash }));
  }, [isReady, isBlamed, blame]);
  useEffect(() => view.current?.show(address.lines), [address.lines?.from, address.lines?.to]);
  return (
    <>
      {isOutdated && <Outdated />}
      {isBlamed && blame.state === "failed" && <p class="error">{wordsOf(blame.error)}</p>}
      <div ref={parent} class="code" />
    </>
  );
}

/**
 * Says that a part of the page's code could not be loaded. The server has a newer version of the page, or cannot be
 * reached.
 */
function Outdated() {
  return (
    <p class="error" role="alert">
      A part of this page could not be loaded. The server may have a newer version of it.{" "}
      <button type="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </p>
  );
}
