/** Lists the controls of a view as a screen reader describes them, and their faults. */

import type { Page } from "playwright-core";

interface Value {
  value?: unknown;
}

interface Node {
  nodeId: string;
  parentId?: string;
  childIds?: string[];
  ignored: boolean;
  role?: Value;
  name?: Value;
  properties?: { name: string; value: Value }[];
}

export interface Control {
  role: string;
  name: string;
  /** The nearest part of the view around the control that has a name. */
  within: string;
  /** The target of a link. */
  url: string;
}

const CONTROLS =
  /^(?:button|link|textbox|searchbox|combobox|listbox|checkbox|DisclosureTriangle|radio|tab|menuitem)$/;
const PARTS =
  /^(?:article|banner|complementary|dialog|form|main|navigation|region|search|list|section)$/;

const text = (value: Value | undefined): string =>
  typeof value?.value === "string" ? value.value : "";

/** Resolves to the controls as the browser reports them to assistive technology, in the order of the document. */
export async function controlsOf(page: Page): Promise<Control[]> {
  const session = await page.context().newCDPSession(page);
  const tree = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const nodes = tree.nodes as Node[];
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const partOf = (node: Node): string => {
    const parent = byId.get(node.parentId ?? "");
    if (parent === undefined) return "";
    const isPart = PARTS.test(text(parent.role)) && text(parent.name) !== "";
    return isPart ? `${text(parent.role)} ${text(parent.name)}` : partOf(parent);
  };
  const inOrder = (node: Node | undefined): Node[] =>
    node ? [node, ...(node.childIds ?? []).flatMap((id) => inOrder(byId.get(id)))] : [];
  return inOrder(nodes[0])
    .filter(({ ignored, role }) => !ignored && CONTROLS.test(text(role)))
    .map((node) => ({
      role: text(node.role),
      name: text(node.name).replace(/\s+/g, " ").trim(),
      within: partOf(node),
      url: text(node.properties?.find(({ name }) => name === "url")?.value),
    }));
}

/** Returns the controls without a name, and those in the same part that have the same name but do different things. */
export function unclear(controls: readonly Control[]): string[] {
  const nameless = controls.filter(({ name }) => name === "").map(({ role }) => `${role} ""`);
  const said = new Map<string, string>();
  const ambiguous: string[] = [];
  for (const { role, name, within, url } of controls) {
    const key = `${role} "${name}" in ${within}`;
    const known = said.get(key);
    if (known !== undefined && (url === "" || url !== known)) ambiguous.push(key);
    said.set(key, url);
  }
  return [...nameless, ...ambiguous];
}

export const showControl = ({ role, name, within }: Control): string =>
  `  ${role} "${name}"${within === "" ? "" : ` in ${within}`}`;
