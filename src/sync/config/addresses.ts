/** Checks and splits addresses of hosts and repositories in a configuration. */

/** Whether an address has no password, and nothing else that could be a secret or an option of git. */
export function isPlainAddress(text: string): boolean {
  if (text === "" || text.startsWith("-") || /[\p{Cc}\s]/u.test(text)) return false;
  if (!text.includes("://")) return /^(?:[\w.-]+@)?[\w.-]{2,}:(?!:)[^:]/.test(text);
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  if (password !== "" || search !== "" || hash !== "") return false;
  if (protocol === "http:" || protocol === "https:") return username === "";
  return protocol === "ssh:" || protocol === "git:" || protocol === "file:";
}

/** Returns the address with a path added, with each part of the path encoded. */
export function addressOf(base: string, ...names: readonly string[]): string {
  const path = names.flatMap((name) => name.split("/")).map(encodeURIComponent);
  return `${base.replace(/\/+$/, "")}/${path.join("/")}`;
}

/** Returns the host of an address in lower case, as in names of repositories. */
export const hostOf = (address: string): string => new URL(address).hostname.toLowerCase();
