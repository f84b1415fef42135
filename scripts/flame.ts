/**
 * Draws a flame graph of one search, with the processor time of each function: `npx tsx scripts/flame.ts INDEX NAME >
 * picture.svg`. INDEX is a data directory, and NAME a question of the benchmark. All tasks run on one thread. The width
 * of a function is its share of the time, including the functions that it calls.
 */

import type { Profiler } from "node:inspector/promises";
import { open } from "../src/index.ts";
import { readQuestions } from "../bench/queries.ts";
import { profileSearch, stageOf, type Stage } from "./search-profile.ts";

const WIDTH = 1_200;
const ROW = 17;
const LETTER = 6.2;
/** The smallest share of the time for which a frame is drawn. */
const LEAST_PART = 0.003;

const COLOURS: Readonly<Record<Stage | "kernel" | "reading" | "collector", string>> = {
  caller: "#c9d6ea",
  planning: "#b8dcc6",
  fetching: "#f2d6a2",
  scanning: "#d9c7e8",
  ranking: "#f0c4c4",
  showing: "#cfe3ea",
  kernel: "#8fbf8f",
  reading: "#e8a35c",
  collector: "#b0b0b0",
};
type Kind = keyof typeof COLOURS;

interface Frame {
  readonly name: string;
  readonly kind: Kind;
  time: number;
  readonly below: Map<string, Frame>;
}

const newFrame = (name: string, kind: Kind): Frame => ({ name, kind, time: 0, below: new Map() });

function kindOf(url: string, above: Kind): Kind {
  if (url.startsWith("wasm:")) return "kernel";
  if (url.includes("/lmdb/") || url === "node:fs") return "reading";
  return stageOf(url) ?? above;
}

/** Frames without information: those before the engine's, and idle time. */
const IDLE = new Set(["(idle)", "(program)"]);

/** Adds up the samples, and joins frames that have the same name and the same callers. */
function frames({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const times = new Map<number, number>();
  for (const [at, id] of samples.entries())
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[at] ?? 0));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root = newFrame("one search", "caller");
  const add = (id: number, above: Frame, urlAbove: string): number => {
    const { callFrame, children = [] } = byId.get(id)!;
    if (IDLE.has(callFrame.functionName)) return 0;
    const url = callFrame.url || urlAbove; // native functions have none
    const isCollector = callFrame.functionName === "(garbage collector)";
    const kind = isCollector ? "collector" : kindOf(url, above.kind);
    const isOurs = stageOf(url) !== undefined || kind !== "caller";
    const name = callFrame.functionName || "(anonymous)";
    const frame = isOurs ? (above.below.get(name) ?? newFrame(name, kind)) : above;
    let time = times.get(id) ?? 0;
    if (isOurs) above.below.set(name, frame);
    for (const child of children) time += add(child, frame, url);
    if (isOurs) frame.time += time;
    return time;
  };
  root.time = add(nodes[0]!.id, root, "");
  return root;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Draws a frame and the frames below it. Returns the number of rows. */
function draw(
  frame: Frame,
  at: { x: number; row: number },
  all: number,
  out: string[],
  ms: number,
): number {
  const width = (frame.time / all) * WIDTH;
  const y = at.row * ROW;
  const label = `${frame.name}: ${((frame.time / all) * ms).toPrecision(3)} ms`;
  const room = Math.floor((width - 6) / LETTER);
  const text = label.length <= room ? label : frame.name.slice(0, Math.max(room, 0));
  out.push(
    `<g><title>${escaped(label)}</title><rect x="${at.x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${COLOURS[frame.kind]}"/>` +
      (room < 3 ? "" : `<text x="${(at.x + 3).toFixed(1)}" y="${y + 12}">${escaped(text)}</text>`) +
      "</g>",
  );
  let [x, rows] = [at.x, at.row + 1];
  const below = [...frame.below.values()].sort((a, b) => b.time - a.time);
  for (const one of below.filter(({ time }) => time >= LEAST_PART * all)) {
    rows = Math.max(rows, draw(one, { x, row: at.row + 1 }, all, out, ms));
    x += (one.time / all) * WIDTH;
  }
  return rows;
}

const [, , directory, name] = process.argv;
const questions = readQuestions(new URL("../bench/queries.json", import.meta.url));
const question = questions.find((one) => one.name === name);
if (directory === undefined || !question)
  throw new Error("usage: npx tsx scripts/flame.ts INDEX NAME > picture.svg");
const engine = await open(directory, { workers: 0, readOnly: true, warmUp: false });
const { samples, ms } = await profileSearch(engine, question);
await engine.close();
const root = frames(samples);
const drawn: string[] = [];
const rows = draw(root, { x: 0, row: 0 }, root.time, drawn, ms);
const legend = Object.entries(COLOURS).map(
  ([kind, colour], i) =>
    `<rect x="${i * 110}" y="${(rows + 1) * ROW}" width="12" height="12" fill="${colour}"/>` +
    `<text x="${i * 110 + 16}" y="${(rows + 1) * ROW + 11}">${kind}</text>`,
);
const height = (rows + 3) * ROW;
console.log(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">` +
    `<rect width="100%" height="100%" fill="#fff"/>${drawn.join("\n")}${legend.join("")}</svg>`,
);
