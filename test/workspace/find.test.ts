/** find() of a workspace sees the disk and unsaved texts. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

test("finds what is on disk and what is not saved", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "cart.ts"), "export function roundToCents() {}\n");
  const engine = await openEngine();
  await using tree = await engine.workspace(folder);
  const first = async (text: string) => (await tree.find({ text })).places[0]?.path;
  expect(await first("rounding to cents")).toBe("cart.ts");
  writeFileSync(join(folder, "user.ts"), "export function loadUser() {}\n");
  expect(await first("load the user")).toBe("user.ts");
  tree.set("price.ts", "export function applyDiscount() {}\n");
  expect(await first("discounts")).toBe("price.ts");
  await expect(tree.find({ text: "" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});
