/** Answers one question about a symbol: finds its definitions, and the places that are asked for. */

import { QuernError } from "../base/errors.ts";
import { Project } from "./core/project.ts";
import { Resolver, type Resolution } from "./core/resolver.ts";
import type { Definition, Facts } from "./facts/facts.ts";
import type { IndexedFiles } from "./indexed-files.ts";
import type {
  FoundCaller,
  FoundPlace,
  NavigationInput,
  NavigationMessage,
  NavigationOutput,
} from "./messages.ts";
import { definitionAround, Positions, symbolOf, unitAt } from "./places.ts";
import { CERTAINTIES, type Certainty } from "./request.ts";
import { useAt } from "./use-kind.ts";
import { wordsAt } from "./words.ts";

/** The maximum number of files that are read for one question. */
const MAX_FILES = 10_000;
const MAX_CALLERS = 2_000;

interface Limits {
  readonly hasEnded: () => boolean;
  readonly pause: () => Promise<void> | undefined;
}

/** Posts what `message` returns if it is time to. Returns whether it did. */
type Post = (message: () => NavigationMessage) => boolean;

/** An occurrence that means a wanted definition. */
interface Use {
  readonly facts: Facts;
  readonly node: number;
  readonly certainty: Certainty;
  readonly why: string;
}

export class Question {
  readonly #files: IndexedFiles;
  readonly #input: NavigationInput;
  readonly #limits: Limits;
  readonly #project: Project;
  readonly #resolver: Resolver;
  readonly #leftOut = { otherDeclarations: 0, comments: 0, strings: 0 };
  readonly #places: (FoundPlace | FoundCaller)[] = [];
  readonly #read = new Set<string>();
  #isComplete = true;

  constructor(files: IndexedFiles, input: NavigationInput, limits: Limits) {
    this.#files = files;
    this.#input = input;
    this.#limits = limits;
    this.#project = new Project(files);
    this.#resolver = new Resolver(this.#project);
  }

  async answer(post: Post): Promise<NavigationOutput> {
    const { ask } = this.#input;
    const found = await this.#targets();
    const targets = found.map(({ definition, certainty, why }) =>
      this.#placeOfDefinition(definition, certainty, why),
    );
    const definitions = found.map(({ definition }) => definition);
    if (ask === "uses") await this.#uses(definitions, post);
    else if (ask === "callers") await this.#callers(definitions);
    else if (ask === "implementations") await this.#implementations(definitions);
    return {
      targets,
      places: ask === "definitions" ? targets : this.#places,
      leftOut: this.#leftOut,
      filesResolved: this.#read.size,
      isComplete: this.#isComplete,
    };
  }

  // ── targets ──

  async #targets(): Promise<{ definition: Definition; certainty: Certainty; why: string }[]> {
    const { target } = this.#input;
    if ("symbol" in target) {
      const all = await this.#named(target.symbol, target.parent);
      const certainty = new Set(all.map(siblingKey)).size > 1 ? "possible" : "resolved";
      const why =
        certainty === "resolved"
          ? "the only definition of this name"
          : "one of several definitions of this name";
      return all.map((definition) => ({ definition, certainty, why }));
    }
    const { facts, node } = this.#nameAt(target);
    const { certainty, definitions, why, isDefinition } = this.#resolver.resolve(facts, node);
    if (certainty === "outside" || certainty === "unknown") return [];
    const all = isDefinition ? definitions.flatMap((one) => this.#siblings(one)) : definitions;
    return canonical(all).map((definition) => ({ definition, certainty, why }));
  }

  #nameAt({ path, line, column }: { path: string; line: number; column: number }): {
    facts: Facts;
    node: number;
  } {
    const facts = this.#project.facts(path);
    if (!facts) {
      const why = this.#project.has(path)
        ? "quern has no rules for its language, or cannot parse it"
        : "there is no such file";
      throw new QuernError("INVALID_REQUEST", `cannot navigate from ${path}: ${why}`);
    }
    const { syntax } = facts;
    const { identifiers } = this.#project.rules(path)!;
    const unit = unitAt(syntax.text, line, column);
    for (const at of unit === undefined ? [] : [unit, unit - 1]) {
      const node = syntax.at(at);
      const isHere = syntax.start(node) <= at && at < syntax.end(node);
      if (isHere && identifiers.has(syntax.type(node))) return { facts, node };
    }
    throw new QuernError("INVALID_REQUEST", `there is no name at ${path}:${line}:${column}`);
  }

  /** Returns the definitions of a name, leaving out local variables and parameters if there are others. */
  async #named(name: string, parent: string | undefined): Promise<Definition[]> {
    const all: Definition[] = [];
    for (const path of this.#files.declaring(name)) {
      if (this.#hasEnded()) break;
      for (const one of this.#project.facts(path)?.definitions ?? [])
        if (one.name === name && !this.#isElsewhere(one)) all.push(one);
      await this.#limits.pause();
    }
    const global = all.filter(isGlobal);
    const wanted = global.length > 0 ? global : all;
    if (parent === undefined) return canonical(wanted);
    const own = wanted.filter(
      ({ owner, receiver, file, scope }) =>
        owner?.name === parent ||
        receiver === parent ||
        scope.owner?.name === parent ||
        file.packageName === parent,
    );
    return canonical(own);
  }

  /** Returns whether a field is only assigned here, and declared in a supertype. */
  #isElsewhere(one: Definition): boolean {
    if (!one.isAssigned || !one.owner) return false;
    const { definitions } = this.#resolver.infer.members.inType(one.owner, one.name);
    return definitions.length > 0 && !definitions.includes(one);
  }

  /** Returns all declarations of what a definition declares, such as the overloads of a function. */
  #siblings(one: Definition): readonly Definition[] {
    const { infer, names } = this.#resolver;
    const all = one.owner
      ? infer.members.inType(one.owner, one.name).definitions
      : (names.lookup(one.file, one.name, one.file.syntax.start(one.node))?.definitions ?? []);
    return all.includes(one) ? all : [one];
  }

  // ── uses ──

  async #uses(targets: readonly Definition[], post: Post): Promise<void> {
    let pending: FoundPlace[] = [];
    await this.#forEachUse(targets, (uses, filesLeft) => {
      for (const place of this.#placesOf(uses)) pending.push(place);
      const isPosted = post(() => ({ places: pending, filesRead: this.#read.size, filesLeft }));
      if (isPosted) pending = [];
    });
    this.#places.push(...pending);
  }

  /** Calls `visit` with the uses in each file, and the number of files that are known to be left. */
  async #forEachUse(
    targets: readonly Definition[],
    visit: (uses: readonly Use[], filesLeft: number) => void,
  ): Promise<void> {
    const wanted = new Set(targets);
    const languages = new Set(targets.map(({ file }) => this.#project.rules(file.path)));
    const names = [...new Set(targets.map(({ name }) => name))].filter((name) => name !== "");
    // a name under which a module exports a target is looked for, too
    for (const name of names) {
      const paths = this.#files.candidates(name);
      for (const [i, path] of paths.entries()) {
        if (this.#read.size >= MAX_FILES || this.#hasEnded()) {
          this.#isComplete = false;
          return;
        }
        await this.#limits.pause();
        if (!languages.has(this.#project.rules(path)) || !this.#files.hasWord(path, name)) continue;
        const facts = this.#project.facts(path);
        if (!facts) {
          this.#isComplete = false;
          continue;
        }
        this.#read.add(path);
        for (const as of exportedAs(facts, name)) if (!names.includes(as)) names.push(as);
        const uses = this.#localNames(facts, name, wanted).flatMap((local) =>
          this.#usesIn(facts, local, wanted),
        );
        visit(uses, paths.length - i - 1);
      }
    }
  }

  /** Returns the names that an exported name has in a file. */
  #localNames(facts: Facts, name: string, wanted: ReadonlySet<Definition>): string[] {
    const aliases = facts.imports.filter(
      (one) =>
        one.name === name &&
        one.local !== name &&
        this.#resolver.names.follow(one).definitions.some((it) => wanted.has(canonicalOf(it))),
    );
    return [...new Set([name, ...aliases.map(({ local }) => local)])];
  }

  #usesIn(facts: Facts, name: string, wanted: ReadonlySet<Definition>): Use[] {
    const { syntax } = facts;
    const rules = this.#project.rules(facts.path)!;
    const uses: Use[] = [];
    for (const at of wordsAt(syntax.text, name)) {
      const node = syntax.at(at);
      const type = syntax.type(node);
      const isName = rules.identifiers.has(type) && syntax.textOf(node) === name;
      if (!isName) {
        if (rules.comments.has(type)) this.#leftOut.comments++;
        else if (rules.strings.has(type)) this.#leftOut.strings++;
        continue;
      }
      const found = this.#resolver.resolve(facts, node);
      if (found.isDefinition && found.definitions.some((one) => wanted.has(canonicalOf(one))))
        continue;
      const use = useOf(found, wanted);
      if (use) uses.push({ facts, node, ...use });
      else if (rules.strings.has(type)) this.#leftOut.strings++;
      else this.#leftOut.otherDeclarations++;
    }
    return uses;
  }

  // ── callers ──

  /** Finds the functions that call the targets, then those that call these functions, and so on. */
  async #callers(targets: readonly Definition[]): Promise<void> {
    const seen = new Set<Definition>(targets);
    let wanted = targets;
    for (let depth = 1; depth <= this.#input.depth && wanted.length > 0; depth++) {
      const next: Definition[] = [];
      await this.#forEachUse(wanted, (uses) => {
        const calls = uses.filter(({ facts, node }) => useAt(facts, node) === "call");
        for (const [i, via] of this.#placesOf(calls).entries()) {
          const { facts, node } = calls[i]!;
          const caller = definitionAround(facts, facts.syntax.start(node));
          if (!caller || seen.has(caller)) continue;
          if (seen.size >= MAX_CALLERS) {
            this.#isComplete = false;
            continue;
          }
          seen.add(caller);
          next.push(caller);
          const place = this.#placeOfDefinition(caller, via.certainty, via.why);
          this.#places.push({ ...place, depth, via });
        }
      });
      wanted = next;
    }
  }

  // ── implementations ──

  /** Finds the types that have the targets as supertypes, or the members that replace those of a supertype. */
  async #implementations(targets: readonly Definition[]): Promise<void> {
    const types = canonical(
      targets.flatMap((one) => (one.owner ? [one.owner] : one.kind === "type" ? [one] : [])),
    );
    const found = await this.#subtypes(types);
    for (const type of found) {
      const members = targets
        .filter(({ owner }) => owner)
        .flatMap(({ name }) => this.#resolver.infer.members.inType(type, name).definitions)
        .filter((one) => !targets.includes(one));
      const isOfType = targets.some(({ kind }) => kind === "type");
      for (const one of canonical(isOfType ? [type] : members))
        this.#places.push(
          this.#placeOfDefinition(one, "resolved", "a subtype by the rules of the language"),
        );
    }
  }

  async #subtypes(types: readonly Definition[]): Promise<Definition[]> {
    const found = new Set<Definition>();
    let above: readonly Definition[] = types;
    while (above.length > 0) {
      const wanted = new Set(above);
      const below: Definition[] = [];
      for (const name of new Set(above.map((one) => this.#nameToFind(one))))
        for (const path of this.#files.candidates(name)) {
          if (this.#hasEnded()) return [...found];
          await this.#limits.pause();
          const facts = this.#files.hasWord(path, name) ? this.#project.facts(path) : undefined;
          if (!facts) continue;
          this.#read.add(path);
          for (const one of facts.definitions)
            if (one.kind === "type" && !found.has(one) && this.#isBelow(one, wanted)) {
              found.add(one);
              below.push(one);
            }
        }
      above = below;
    }
    return [...found];
  }

  /** Returns a name that files with subtypes of a type contain. In Go, that is the name of a method. */
  #nameToFind(type: Definition): string {
    const rules = this.#project.rules(type.file.path)!;
    const [method] = rules.packageFiles ? methodsOf(type) : [];
    return method ?? type.name;
  }

  #isBelow(type: Definition, wanted: ReadonlySet<Definition>): boolean {
    if (wanted.has(type)) return false;
    const rules = this.#project.rules(type.file.path)!;
    const { members } = this.#resolver.infer;
    if (rules.packageFiles)
      return [...wanted].some((one) => {
        const methods = methodsOf(one);
        const isSame = this.#project.rules(one.file.path) === rules;
        return (
          isSame &&
          methods.length > 0 &&
          methods.every((name) =>
            members.inType(type, name).definitions.some(({ kind }) => kind === "method"),
          )
        );
      });
    return members
      .superTypes(type)
      .some((one) => (one?.is === "instance" || one?.is === "type") && wanted.has(one.of));
  }

  // ── places ──

  #placesOf(uses: readonly Use[]): FoundPlace[] {
    if (uses.length === 0) return [];
    const { facts } = uses[0]!;
    const { syntax, path } = facts;
    const ordered = uses.toSorted((a, b) => syntax.start(a.node) - syntax.start(b.node));
    const positions = new Positions(syntax.text, this.#files.bytes(path));
    const found = new Map<Use, FoundPlace>();
    for (const use of ordered) {
      const { node, certainty, why } = use;
      const inside = definitionAround(facts, syntax.start(node));
      found.set(use, {
        path,
        range: positions.range(syntax.start(node), syntax.end(node)),
        certainty,
        use: useAt(facts, node),
        why,
        ...(inside && { inside: symbolOf(inside) }),
      });
    }
    return uses.map((use) => found.get(use)!);
  }

  #placeOfDefinition(definition: Definition, certainty: Certainty, why: string): FoundPlace {
    const { file, node } = definition;
    const { syntax, path } = file;
    const positions = new Positions(syntax.text, this.#files.bytes(path));
    return {
      path,
      range: positions.range(syntax.start(node), syntax.end(node)),
      certainty,
      use: "definition",
      why,
      inside: symbolOf(definition),
    };
  }

  #hasEnded(): boolean {
    if (!this.#limits.hasEnded()) return false;
    this.#isComplete = false;
    return true;
  }
}

/** Returns the names under which a file exports a name, beside its own. */
function exportedAs({ exports }: Facts, name: string): string[] {
  return [...exports].flatMap(([as, list]) => {
    const isOther = as !== name && as !== "default";
    const isName = list.some(
      (one) => ("local" in one && one.local === name) || ("name" in one && one.name === name),
    );
    return isOther && isName ? [as] : [];
  });
}

function useOf(
  { certainty, definitions, why }: Resolution,
  wanted: ReadonlySet<Definition>,
): { certainty: Certainty; why: string } | undefined {
  if (!(CERTAINTIES as readonly string[]).includes(certainty)) return undefined;
  if (!definitions.some((one) => wanted.has(canonicalOf(one)))) return undefined;
  return { certainty: certainty as Certainty, why };
}

/** Two definitions may stand at one node, such as a parameter of a constructor that is also a field. */
const canonicalOf = (one: Definition): Definition => one.file.definitionAt.get(one.node) ?? one;

const canonical = (all: readonly Definition[]): Definition[] => [...new Set(all.map(canonicalOf))];

const isGlobal = ({ kind, owner, scope }: Definition): boolean =>
  kind !== "parameter" &&
  kind !== "type parameter" &&
  (owner !== undefined ||
    (scope.kind !== "function" && scope.kind !== "block") ||
    kind !== "variable");

/** Declarations of one name in one place are one symbol. */
const siblingKey = ({ owner, receiver, scope, file }: Definition): unknown =>
  owner ?? (receiver === undefined ? scope : `${file.path.replace(/[^/]*$/, "")}\0${receiver}`);

/** Returns the names of the methods that an interface declares. */
const methodsOf = ({ members }: Definition): string[] =>
  [...(members ?? [])].flatMap(([name, list]) =>
    list.some(({ kind }) => kind === "method") ? [name] : [],
  );
