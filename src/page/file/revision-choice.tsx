/** Lets the reader choose another branch or tag, and opens the same file or folder there. */

import type { FileView, FolderView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { plainText } from "../frame/plain-text.tsx";
import type { Revision } from "../wire/answers.ts";

interface RevisionChoiceProps {
  address: FileView | FolderView;
  revisions: readonly Revision[];
}

export function RevisionChoice({ address, revisions }: RevisionChoiceProps) {
  const { router } = usePage();
  const byDefault = revisions.find(({ isDefault }) => isDefault);
  if (byDefault === undefined) return null;
  const current =
    address.ref === undefined || address.ref === "HEAD" ? byDefault.name : address.ref;
  const names = revisions.map(({ name }) => name);
  if (!names.includes(current)) names.unshift(current);
  if (names.length === 1 && current === "HEAD") return null; // an indexed folder has no other revisions
  const onChange = (ref: string): void => {
    const { lines: _, ...place } = { lines: undefined, ...address };
    router.go({ ...place, ref });
  };
  return (
    <select
      class="revision"
      aria-label="Revision"
      value={current}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {/^[0-9a-f]{40}$/.test(name) ? name.slice(0, 12) : plainText(name)}
        </option>
      ))}
    </select>
  );
}
