/**
 * Declares the kernel's exports for TypeScript. The comments on the functions in assembly/ say what each export does
 * and requires.
 */

export interface KernelExports {
  // text
  countNewlines(from: number, to: number): number;
  linesAround(places: number, count: number, from: number, to: number, out: number): number;
  stretchesWith(
    regions: number,
    regionCount: number,
    places: number,
    placeCount: number,
    dense: number,
    out: number,
  ): number;
  bestEdge(pairs: number, stop: number, lowest: number, limit: number): number;
  bestDefinition(
    run: number,
    runEnd: number,
    pairs: number,
    pairsEnd: number,
    origin: number,
    length: number,
  ): number;
  /** Returns the number of names, or -1 if the run is invalid. */
  namesAt(
    run: number,
    runEnd: number,
    places: number,
    placesEnd: number,
    origin: number,
    reach: number,
    length: number,
    out: number,
  ): number;

  // words
  splitWords(
    state: number,
    from: number,
    to: number,
    windowBytes: number,
    stream: number,
    streamEnd: number,
    mostWords: number,
    textsEnd: number,
  ): number;
  hashWords(state: number): void;
  countStems(state: number, stream: number, length: number): void;
  addBlob(state: number, blob: number): void;
  copyStemList(state: number, stem: number, out: number): number;
  /** Returns the number of windows, or -1 if the list violates the format. */
  readStemList(
    list: number,
    end: number,
    blobs: number,
    files: number,
    best: number,
    scale: number,
    weight: number,
  ): number;
  addWorths(best: number, sums: number, blobs: number, share: number): void;
  /** Returns the first file that was not scored. */
  scoreNames(
    state: number,
    paths: number,
    starts: number,
    fromFile: number,
    toFile: number,
    among: number,
    terms: number,
    shares: number,
    termCount: number,
    values: number,
    stream: number,
    out: number,
    mostWords: number,
    textsEnd: number,
  ): number;

  // scan: (runs, runCount, needle …, out) => matches
  scanLiteral(
    runs: number,
    runCount: number,
    bytes: number,
    masks: number,
    length: number,
    first: number,
    second: number,
    floor: number,
    out: number,
  ): number;
  scanFolded(
    runs: number,
    runCount: number,
    needle: number,
    length: number,
    leads: number,
    folding: number,
    floor: number,
    out: number,
  ): number;
  /** Returns -1 if there is not enough room. */
  scanTriples(
    regions: number,
    regionCount: number,
    sets: number,
    out: number,
    room: number,
  ): number;

  // grams
  addPage(state: number, from: number, to: number, page: number): number;
  copyList(slot: number, out: number): number;
  clearGrams(state: number): void;

  // page-grams
  foldPage(from: number, to: number, folding: number, out: number): number;
  /** Returns 0 or 1. */
  hasGram(classes: number, from: number, to: number): number;

  /** Returns a number of pages, or BROKEN; see page-lists.ts. */
  pagesWithAll(
    set: number,
    firsts: number,
    blocks: number,
    grams: number,
    count: number,
    pages: number,
    scratch: number,
  ): number;

  // postings
  decodeGaps(list: number, length: number, pages: number, bits: number): number;
  encodeGaps(bits: number, pages: number, out: number): number;
  countBits(bits: number, bytes: number): number;

  // automaton
  runAutomaton(run: number): number;
}
