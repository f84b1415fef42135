/** Shows the text of a file, and loads the code that draws it. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { usePage } from "../frame/page-context.ts";
import { hasNoFocus } from "../frame/place.ts";
import { plainText } from "../frame/plain-text.tsx";
import type { Source } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import type { CodeView, Name } from "./code-view.ts";
import { cardMaker } from "./hover-card.ts";
import { definitionsAt, firstOf, type NameInFile } from "./symbol-request.ts";

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
  const cardOf = useMemo(() => cardMaker(client), [client]);
  const placeOf = ({ name, line, column }: Name): NameInFile => {
    const { repository, ref, path } = latest.current;
    return { repository, ref, name, at: { path, line, column } };
  };
  /** Opens the only definition of a name. If there are others, or none is known, lists them. */
  const goToDefinition = async (asked: Name): Promise<void> => {
    const place = placeOf(asked);
    const found = await definitionsAt(client, place);
    const isOne = found?.targets.length === 1 && found.targets[0]!.matches.length === 1;
    const target = isOne ? firstOf(found.targets) : undefined;
    const { name: _, at: __, lines: ___, ...here } = latest.current;
    if (target === undefined) return router.go({ ...here, name: asked.name, at: place.at });
    const { lineNumber: line } = target.range.start;
    router.go({ ...here, path: target.fileName, lines: { from: line, to: line } });
  };
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
        onName: ({ name, line, column }) => {
          const at = { path: latest.current.path, line, column };
          const how = latest.current.name === undefined ? "push" : "replace";
          router.go({ ...latest.current, name, at }, how);
        },
        onDefinition: (name) => void goToDefinition(name),
        cardOf: (name) => cardOf(placeOf(name)),
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
