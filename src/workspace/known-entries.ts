/**
 * Keeps the names of a folder's entries. For each name, it keeps the state that the entry had when it was last looked
 * at. A state is a text that is only compared with a later state.
 *
 * A followed tree has very many entries, and V8 marks each object whenever it collects garbage. So all entries of a
 * folder are packed into one string, which takes one byte per character of names and states. While a whole folder is
 * read, its entries are unpacked into a map. While they are packed, each operation takes about 0.1 ms per MiB of the
 * string.
 */

// no system permits these characters in a name
const END = "/";
const MIDDLE = "\0";

/** Stores the entries of one folder. REQUIRES: states contain neither '/' nor NUL. */
export class KnownEntries {
  /**
   * The packed entries. The string begins with '/'. For each entry, the name, NUL, the state and '/' follow. The
   * string is out of date while there is a map.
   */
  #packed = END;
  #map: Map<string, string> | undefined;

  unpack(): void {
    if (this.#map) return;
    this.#map = new Map();
    for (const entry of this.#packed.split(END).slice(1, -1)) {
      const middle = entry.indexOf(MIDDLE);
      this.#map.set(entry.slice(0, middle), entry.slice(middle + 1));
    }
  }

  pack(): void {
    if (!this.#map) return;
    const parts = [END];
    for (const [name, state] of this.#map) parts.push(name, MIDDLE, state, END);
    this.#packed = parts.join("");
    this.#map = undefined;
  }

  get(name: string): string | undefined {
    if (this.#map) return this.#map.get(name);
    const place = this.#find(name);
    return place && this.#packed.slice(place.state, place.end);
  }

  set(name: string, state: string): void {
    if (this.#map) this.#map.set(name, state);
    else {
      const { start, end } = this.#find(name) ?? { start: 0, end: 0 };
      this.#replace(start, end, END + name + MIDDLE + state);
    }
  }

  /** Returns true if there was an entry with this name. */
  delete(name: string): boolean {
    if (this.#map) return this.#map.delete(name);
    const place = this.#find(name);
    if (place) this.#replace(place.start, place.end, "");
    return place !== undefined;
  }

  names(): string[] {
    if (this.#map) return [...this.#map.keys()];
    const entries = this.#packed.split(END).slice(1, -1);
    return entries.map((entry) => entry.slice(0, entry.indexOf(MIDDLE)));
  }

  /** Returns the position of the '/' before an entry, and the positions where its state begins and ends. */
  #find(name: string): { start: number; state: number; end: number } | undefined {
    const key = END + name + MIDDLE;
    const start = this.#packed.indexOf(key);
    if (start < 0) return undefined;
    const state = start + key.length;
    return { start, state, end: this.#packed.indexOf(END, state) };
  }

  /**
   * Replaces a range of the packed entries. Uses join(), because a string made with `+` would keep the old string in
   * memory.
   */
  #replace(start: number, end: number, text: string): void {
    this.#packed = [this.#packed.slice(0, start), text, this.#packed.slice(end)].join("");
  }
}
