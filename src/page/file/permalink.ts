/** Replaces the branch or tag in the address by its commit when the reader presses `y` or copies the link. */

import { useEffect, useMemo } from "preact/hooks";
import type { FileView, FolderView } from "../frame/address.ts";
import { PERMALINK } from "../frame/keyboard.ts";
import { usePage } from "../frame/page-context.ts";
import type { Revision } from "../wire/answers.ts";

export function usePermalink(address: FileView | FolderView, revisions: readonly Revision[]): void {
  const { router } = usePage();
  const commit = useMemo(
    () =>
      revisions.find(({ name, isDefault }) =>
        address.ref === undefined || address.ref === "HEAD" ? isDefault : name === address.ref,
      )?.commit,
    [address.ref, revisions],
  );
  useEffect(() => {
    const onPermalink = (event: Event): void => {
      if (commit === undefined) return;
      event.preventDefault();
      router.go({ ...address, ref: commit }, "replace");
    };
    document.addEventListener(PERMALINK, onPermalink);
    return () => document.removeEventListener(PERMALINK, onPermalink);
  }, [address, commit, router]);
}
