/**
 * Where everything lies in the memory of a *job*, which is the search of one thread for one literal. The memory belongs
 * to one thread, which runs one search at a time, so nothing here needs a lock. It is a part of the memory that all
 * threads share, because the kernel reads the tables of segments there (src/store/segments/shared-tables.ts). This file
 * is compiled both as AssemblyScript and as TypeScript. All constants are offsets in bytes.
 *
 *     room := job window pairs lists rows run shown plans     one for each thread; see room.ts for the sizes
 *     job  := word* bytes masks folded points leads grams matchScores languages
 *     plan := word* chunk* bits named scope                   one for each segment; those of a search coexist
 *     chunk := firstPage endPage
 *     row  := score file count                                a file that matches
 *
 * All numbers are u32 if nothing else is said. Addresses are those of the shared memory. A *page* is a candidate page if
 * its bit is set in `bits`; after planLiteral(), these are the pages on which the literal may begin, and whose blob has a
 * file in scope.
 */

// ── job: the literal ──

/** The length of the literal in bytes, and the positions of its two rarest bytes. */
export const LENGTH = 0;
export const FIRST = 4;
export const SECOND = 8;
/** The length of the longest match in bytes. It is greater than LENGTH if a character beyond ASCII may match a letter. */
export const LONGEST = 12;
/** 1 if the characters U+212A or U+017F, which fold to `k` and `s`, may occur in a match. */
export const IS_FOLDED = 16;
export const GRAM_COUNT = 20;

// ── job: what is wanted ──

/** 1 if files are ranked, 0 if they are only counted. */
export const IS_RANKED = 24;
/** i32: files with a lower score are counted, but not written to `rows`. */
export const LEAST_SCORE = 28;

// ── job: the addresses of the thread's memory ──

export const FOLDING = 32;
export const WINDOW = 36;
export const PAIRS = 40;
export const LISTS = 44;
export const ROWS = 48;
export const SHOWN = 52;
export const DEFINITIONS = 108;
/** The run of definitions that readRun() has read last, and its length. */
export const RUN = 56;
export const RUN_BYTES = 60;

// ── job: results, which the caller sets to 0 when it has taken them ──

export const ROW_COUNT = 64;
/** The number of files whose blob was scanned. */
export const CONSIDERED = 68;
export const FILE_COUNT = 72;
export const TEXT_BYTES = 76;
/** f64: the number of matches in all matching files. */
export const MATCHES = 80;

// ── job: the repository of the files [RANK_FIRST, RANK_END), which rankOf() has found last ──

/** f64: what the repository's rank adds to a score. */
export const RANK = 88;
export const RANK_FIRST = 96;
export const RANK_END = 100;

// ── job: arrays ──

/** The greatest length of a literal. */
export const MOST_LENGTH = 512;
/** `bytes` and `masks` as scanLiteral() reads them, and `points` and `leads` as scanFolded() does (scan.ts). */
export const BYTES = 128;
export const MASKS = 656;
/** The folded literal, which is searched in paths. */
export const FOLDED = 1184;
export const POINTS = 1712;
export const LEADS = 3760;
export const MOST_GRAMS = 126;
export const GRAMS = 3824;
/** f64: what a number of matches, up to MOST_COUNTED, adds to a score. */
export const MATCH_SCORES = 4336;
export const MOST_COUNTED = 1000;
/** For each language of the segment, i32: twice what it adds to a score, plus 1 if its definitions count. */
export const LANGUAGES = 12352;
export const MOST_LANGUAGES = 1024;
/** The run of text that is scanned; see scan.ts. */
export const TEXT_RUN = 16448;
export const JOB_BYTES = 16512;

// ── plan: the segment ──

export const PAGES = 0;
export const PAGE_BYTES = 4;
/** Tables of the segment; see SegmentReader. */
export const BLOB_STARTS = 8;
export const FIRST_PAGES = 12;
export const PAGE_BLOBS = 16;
export const FOLDS = 20;
export const FLAGS = 24;
export const FILE_LANGUAGES = 28;
export const BLOB_FILE_STARTS = 32;
export const BLOB_FILES = 36;
export const PATH_STARTS = 40;
export const PATHS = 44;
/** Where the run of each blob begins among all runs of definitions. 0 if the segment has none. */
export const SYMBOL_STARTS = 48;
/**
 * The posting lists of the text, and those of names: the first gram of each block, and the number of blocks. NAME_LISTS
 * is 0 if there are none.
 */
export const TEXT_LISTS = 52;
export const TEXT_BLOCKS = 56;
export const NAME_LISTS = 60;
export const NAME_BLOCKS = 64;
/** The number of words of SCOPE. */
export const SCOPE_WORDS = 68;

// ── plan: addresses of its arrays ──

export const CHUNKS = 72;
export const BITS = 76;
/** The pages on which the names of definitions may contain the literal. Valid if IS_NAMED is 1. */
export const NAMED = 80;
/** The files in scope. */
export const SCOPE = 84;

// ── plan: results ──

export const IS_NAMED = 88;
export const IN_SCOPE = 92;
/** The number of files in scope whose blob has a candidate page, and the number of these pages. */
export const CANDIDATES = 96;
export const CANDIDATE_PAGES = 100;
/** The length of the posting lists that were looked up, in bytes. */
export const LIST_BYTES = 104;
export const CHUNK_COUNT = 108;
export const PLAN_BYTES = 112;

/** A chunk, which a thread claims at once, has about this many candidate pages. */
export const CHUNK_PAGES = 96;

// ── sizes of the thread's memory ──

/** The text that is read at once, at most: it fits into a core's cache. */
export const GROUP_BYTES = 262144;
/** The greatest LONGEST, and the number of bytes that are kept free around the text. */
export const MOST_LONGEST = 1536;
export const MARGIN = 64;
/** The longest blob that showLiteral() shows. */
export const MOST_SHOWN = 1048576;
/** The matches that begin in a group, at most: a match has at least three bytes. */
export const MOST_PAIRS = 87382;
export const MOST_ROWS = 1024;
export const ROW_BYTES = 12;

// ── what showLiteral() writes ──

/**
 * shown := chunk* range* symbol* text
 * chunk := textBytes ranges byteOffset lineNumber column
 * range := byteOffset lineNumber column byteOffset lineNumber column
 * symbol := chunk name name             of each range that is within the name of a definition: the name, and its parent's
 * name := from to kind                  `to` is 0 if there is no parent
 */
export const MOST_RANGES = 1024;
export const SHOWN_RANGES = 20480;
export const SHOWN_SYMBOLS = 45056;
export const SHOWN_TEXT = 73728;
export const SYMBOL_WORDS = 7;
/** The numbers of chunks and symbols, and of the bytes of text; these words belong to the job. */
export const CHUNKS_SHOWN = 112;
export const SYMBOLS_SHOWN = 116;
export const TEXT_SHOWN = 120;
/** The definitions of a blob that is shown, at most. Each takes four words, as in symbol-run.ts. */
export const MOST_DEFINITIONS = 16384;
export const DEFINITION_BYTES = 16;
