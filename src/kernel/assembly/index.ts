/** The kernel's exports. Every pointer is an address in the imported memory; nothing here allocates. */

export { countNewlines } from "./text";
