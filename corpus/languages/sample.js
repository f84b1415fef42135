"use strict";
import fs, { readFile as read } from "node:fs";
import data from "./data.json" with { type: "json" };

const VERSION = "1.0", [first, ...others] = [1, 2, 3];
let state = null;
var legacy = function namedExpression() {};

export async function* stream(source) {
  const local = 1;
  for await (const chunk of source) yield chunk;
}

export const handler = async ({ body }, ...rest) => { let inner = body ?? rest; return inner?.value; };

class Queue extends Array {
  static instances = new Map();
  #items = [];
  name = "queue";
  onEmpty = () => {};
  static { Queue.instances.set("a", 1); }
  constructor() { super(); this.extra = 1; }
  get size() { return this.#items.length; }
  async push(item) { this.#items.push(item); }
  static create() { return new Queue(); }
  #drain() {}
  *[Symbol.iterator]() {}
  "quoted method"() {}
}

const api = {
  get: (url) => fetch(url),
  async post(url) { return 1_000n; },
  nested: { deep() {} },
  plain: 42,
};

Queue.prototype.clear = function () { this.length = 0; };
exports.parse = function parse(text) { return JSON.parse(text); };
module.exports.format = (x) => `${x}`;
window.app.start = () => {};

(function (root, factory) {
  function insideFactory() {}
  root.Widget = factory();
})(globalThis, () => class Widget { draw() {} });

label: for (const x of []) { x ||= 1; x **= 2; }
export { state as default, VERSION };
export class $Dollar_1 {}
class Signal { accessor value = 1; static accessor #count = 0; read() { return this.value; } }
using handle = open();
import defer * as heavy from "./heavy.js";
const accessor = 1, using = 2;
