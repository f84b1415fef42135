/** Leaves tests out on a machine that lacks what they need. */

/** Prints what is missing. With QUERN_CI=1 it throws instead, because there every test must run. */
export function leaveOut(what: string, why: string): void {
  const [reason = ""] = why.split("\n");
  if (process.env["QUERN_CI"] === "1") throw new Error(`no ${what}: ${why}`);
  console.log(`no ${what}, so its tests are left out: ${reason}`);
}
