/** Draws the path of a file or folder, beginning with its repository. Each part but the last is a link. */

import type { Address } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";

interface Place {
  repository: string;
  ref?: string;
  path: string;
}

export function Path({ address: { repository, ref, path } }: { address: Place }) {
  const { router } = usePage();
  const place = { repository, ...(ref !== undefined && { ref }) };
  const names = path === "" ? [] : path.split("/");
  const folder = (depth: number): Address => ({
    view: "folder",
    ...place,
    path: names.slice(0, depth).join("/"),
  });
  return (
    <nav class="crumbs" aria-label="Path">
      {names.length === 0 ? (
        <h1>
          <PlainText text={repository} />
        </h1>
      ) : (
        <a class="repository" href={router.href(folder(0))}>
          <PlainText text={repository} />
        </a>
      )}
      {names.map((name, index) => (
        <span key={index}>
          <span class="muted">/</span>
          {index === names.length - 1 ? (
            <h1>
              <PlainText text={name} />
            </h1>
          ) : (
            <a href={router.href(folder(index + 1))}>
              <PlainText text={name} />
            </a>
          )}
        </span>
      ))}
    </nav>
  );
}
