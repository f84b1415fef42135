/** Checks the addresses of hosts and repositories in a configuration, and makes other addresses from them. */

/**
 * True if the text is an address such as `https://host/path` or `user@host:path`. It must not contain a password or
 * anything else that could be a secret, and git must not take it for an option.
 */
export function isPlainAddress(text: string): boolean {
  if (text === "" || text.startsWith("-") || /[\p{Cc}\s]/u.test(text)) return false;
  if (!text.includes("://")) return /^(?:[\w.-]+@)?[\w.-]{2,}:(?!:)[^:]/.test(text);
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  if (password !== "" || search !== "" || hash !== "") return false;
  if (protocol === "http:" || protocol === "https:") return username === "";
  return protocol === "ssh:" || protocol === "git:" || protocol === "file:";
}

/** Appends the names to the path of an address. The parts of a name between slashes are percent-encoded. */
export function addressOf(base: string, ...names: readonly string[]): string {
  const path = names.flatMap((name) => name.split("/")).map(encodeURIComponent);
  return `${base.replace(/\/+$/, "")}/${path.join("/")}`;
}

/** Returns the host name of an address in lower case, which is how names of repositories contain it. */
export const hostOf = (address: string): string => new URL(address).hostname.toLowerCase();
