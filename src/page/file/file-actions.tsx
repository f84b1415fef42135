/** Draws the buttons and links of a file, such as those that copy its path or show its history. */

import { useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { PERMALINK } from "../frame/keyboard.ts";
import { usePage } from "../frame/page-context.ts";
import type { Source } from "../wire/answers.ts";

interface FileActionsProps {
  source: Source;
  address: FileView;
  hasCommits: boolean;
}

export function FileActions({ source, address, hasCommits }: FileActionsProps) {
  const { hasHistory } = usePage();
  const [said, setSaid] = useState("");
  const copy = async (text: string, what: string): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setSaid(`${what} copied`);
  };
  const onPermalink = (): void => {
    const isMade = !document.dispatchEvent(new Event(PERMALINK, { cancelable: true }));
    void copy(location.href, isMade ? "Permanent link" : "Link");
  };
  return (
    <div class="actions">
      {hasHistory && hasCommits && <HistoryLinks address={address} />}
      {canCopy && (
        <>
          <button type="button" class="quiet" onClick={() => void copy(address.path, "Path")}>
            Copy path
          </button>
          <button type="button" class="quiet" onClick={onPermalink}>
            Copy link
          </button>
        </>
      )}
      <button type="button" class="quiet" onClick={() => openRaw(source)}>
        Raw
      </button>
      {source.externalWebUrl !== undefined && isWeb(source.externalWebUrl) && (
        <a class="quiet" href={source.externalWebUrl} rel="noreferrer" target="_blank">
          On its code host
        </a>
      )}
      <span class="said" role="status">
        {said}
      </span>
    </div>
  );
}

function HistoryLinks({ address }: { address: FileView }) {
  const { router } = usePage();
  const { repository, ref, path, blame = false } = address;
  const place = { repository, path, ...(ref !== undefined && { ref }) };
  return (
    <>
      <a
        class="quiet"
        href={router.href({ ...address, blame: !blame })}
        aria-current={blame ? "true" : undefined}
      >
        Blame
      </a>
      <a class="quiet" href={router.href({ ...place, view: "commits" })}>
        History
      </a>
    </>
  );
}

const canCopy = "clipboard" in navigator; // not available if the page came over plain HTTP from another machine

/** Whether an address from a repository's metadata is safe as a link. Any address but a web address may be a script. */
const isWeb = (url: string): boolean => /^https?:\/\//i.test(url);

/**
 * Opens a new tab with the file as plain text. The page passes the text itself, because a link to the server would be
 * opened without the API key.
 */
function openRaw({ source }: Source): void {
  const url = URL.createObjectURL(new Blob([source], { type: "text/plain;charset=utf-8" }));
  window.open(url, "_blank", "noopener");
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
