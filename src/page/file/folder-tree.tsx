/** Draws the tree of a repository's folders. The folders that contain the current file are open. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useDrawn } from "../frame/drawn.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage, type Page } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import type { TreeNode } from "../wire/answers.ts";
import { isAbort } from "../wire/client.ts";

/** The maximum number of entries of a folder that are shown. */
const MOST_ENTRIES = 1000;
const DRAWN_IN_FRAME = 100;

export function FolderTree({ address }: { address: FileView }) {
  const { repository, ref, path } = address;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(foldersOf(path)));
  const root = useTree(address, open);
  useEffect(() => setOpen((known) => new Set([...known, ...foldersOf(path)])), [path]);
  useEffect(() => setOpen(new Set(foldersOf(path))), [repository, ref]);
  const onToggle = (folder: string): void => {
    const next = new Set(open);
    if (!next.delete(folder)) next.add(folder);
    setOpen(next);
  };
  return (
    <nav class="tree" aria-label="Files">
      <details open={matchMedia("(min-width: 70rem)").matches}>
        <summary>Files</summary>
        {root && <Entries nodes={root.children} {...{ address, open, onToggle }} />}
      </details>
    </nav>
  );
}

function foldersOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Returns the tree. While a new tree is loading, returns the previous tree. */
function useTree({ repository, ref }: FileView, open: ReadonlySet<string>): TreeNode | undefined {
  const { client } = usePage();
  const [tree, setTree] = useState<TreeNode>();
  useEffect(() => {
    const abort = new AbortController();
    client.tree({ repository, ref, paths: [...open] }, abort.signal).then(setTree, (error) => {
      if (!isAbort(error)) setTree(undefined);
    });
    return () => abort.abort();
  }, [client, repository, ref, open]);
  return tree;
}

interface EntriesProps {
  nodes: readonly TreeNode[];
  address: FileView;
  open: ReadonlySet<string>;
  onToggle: (folder: string) => void;
}

function Entries(props: EntriesProps) {
  const { nodes, address, open, onToggle } = props;
  const { router } = usePage();
  const count = Math.min(nodes.length, MOST_ENTRIES);
  const drawn = useDrawn({ list: "", count, step: DRAWN_IN_FRAME });
  return (
    <ul>
      {nodes.slice(0, drawn).map((node) => (
        <li key={node.path}>
          {node.type === "tree" ? (
            <>
              <button
                type="button"
                aria-expanded={open.has(node.path)}
                onClick={() => onToggle(node.path)}
              >
                <Icon name={open.has(node.path) ? "down" : "right"} />
                <PlainText text={node.name} />
              </button>
              {open.has(node.path) && <Entries {...props} nodes={node.children} />}
            </>
          ) : (
            <FileLink node={node} address={address} router={router} />
          )}
        </li>
      ))}
      {nodes.length > MOST_ENTRIES && <li class="muted">and {nodes.length - MOST_ENTRIES} more</li>}
    </ul>
  );
}

interface FileLinkProps {
  node: TreeNode;
  address: FileView;
  router: Page["router"];
}

function FileLink({ node, address: { repository, ref, path }, router }: FileLinkProps) {
  const place = { repository, ...(ref !== undefined && { ref }), path: node.path };
  const isOpen = node.path === path;
  const link = useRef<HTMLAnchorElement>(null);
  useLayoutEffect(() => {
    if (isOpen && link.current !== null) showInTree(link.current);
  }, [isOpen]);
  return (
    <a
      ref={link}
      href={router.href({ view: "file", ...place })}
      aria-current={isOpen ? "page" : undefined}
    >
      <PlainText text={node.name} />
    </a>
  );
}

/** Scrolls the tree to the open file if it is not visible. */
function showInTree(link: HTMLElement): void {
  const tree = link.closest(".tree")!.getBoundingClientRect();
  const { top, bottom } = link.getBoundingClientRect();
  if (top < tree.top || bottom > tree.bottom) link.scrollIntoView({ block: "center" });
}
