/** Draws the view of one commit, with its message and its changes. */

import type { CommitView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import type { Commit } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import { beginningOfDiff } from "./diff-lines.ts";
import { FileDiff } from "./file-diff.tsx";

const BODY_CHARACTERS = 40_000;

type CommitWithParents = Commit & { parents: string[] };

export function CommitPage({ address }: { address: CommitView }) {
  const { client } = usePage();
  const { repository, hash } = address;
  const asked = useAsked(JSON.stringify([repository, hash]), (signal) =>
    client.commit({ repo: repository, ref: hash }, signal),
  );
  const title = asked.state === "there" ? asked.value.message : hash.slice(0, 10);
  useTitle(`${title} – ${repository}`);
  return (
    <main id="main" class="commit">
      {asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
      {asked.state === "there" && (
        <>
          <CommitHead commit={asked.value} repository={repository} />
          <Changes commit={asked.value} repository={repository} />
        </>
      )}
    </main>
  );
}

interface CommitProps {
  commit: CommitWithParents;
  repository: string;
}

function CommitHead({ commit, repository }: CommitProps) {
  const { router } = usePage();
  const { message, body, authorName, date, hash, parents } = commit;
  const place = { repository, ref: hash, path: "" };
  return (
    <header>
      <p class="muted">
        <a href={router.href({ view: "commits", repository, path: "" })}>
          <PlainText text={repository} />
        </a>
      </p>
      <h1>
        <PlainText text={message} />
      </h1>
      {body !== "" && (
        <pre>
          <PlainText text={body.replaceAll("\r\n", "\n")} most={BODY_CHARACTERS} />
        </pre>
      )}
      <p class="muted">
        <PlainText text={authorName} />, <time dateTime={date}>{ago(date)}</time> ·{" "}
        <code>{hash.slice(0, 10)}</code>
        {parents.map((parent) => (
          <span key={parent}>
            {" "}
            · parent{" "}
            <a href={router.href({ view: "commit", repository, hash: parent })}>
              <code>{parent.slice(0, 10)}</code>
            </a>
          </span>
        ))}{" "}
        · <a href={router.href({ view: "folder", ...place })}>files of this commit</a>
      </p>
    </header>
  );
}

/** Shows the differences from the first parent, as git log does. */
function Changes({ commit: { hash, parents }, repository }: CommitProps) {
  const { client } = usePage();
  const [base] = parents;
  const asked = useAsked(base && JSON.stringify([repository, base, hash]), (signal) =>
    client.diff({ repo: repository, base: base!, head: hash }, signal),
  );
  if (base === undefined) return <p class="muted">This is the first commit.</p>;
  if (asked.state === "failed") return <p class="error">{wordsOf(asked.error)}</p>;
  if (asked.state === "waiting") return <p class="muted">Loading …</p>;
  const { files, isCut } = beginningOfDiff(asked.value);
  return (
    <section aria-label="Changes">
      <h2>
        {asked.value.length} {asked.value.length === 1 ? "file" : "files"} changed
      </h2>
      {files.map(({ file, hunks }) => (
        <FileDiff
          key={file.newPath ?? file.oldPath}
          {...{ file, hunks, repository, base, head: hash }}
        />
      ))}
      {isCut && <p class="muted">The changes are too long. Only their beginning is shown.</p>}
    </section>
  );
}
