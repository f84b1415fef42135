/** The examples of a deployment are well-formed, and what they tell quern is what quern takes. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { openClusterFile } from "../../src/cli/cluster-file.ts";
import { quern } from "../cli/terminal.ts";
import { temporaryFolder } from "../engine/opened.ts";

const FOLDER = "examples/cluster";
const FILE = "/etc/quern/cluster.json";
const env = { DATABASE_URL: "postgres://quern:secret@127.0.0.1:1/quern" };
const example = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

/** Rejects unless the command takes these arguments. Runs nothing: --help comes first. */
async function mustBeTaken(args: readonly string[]): Promise<void> {
  expect(args).toContain(FILE);
  const words = args.filter((word, n) => !word.startsWith("-") && !args[n - 1]?.startsWith("--"));
  const { code, stdout } = await quern([...words.filter((word) => word !== FILE), "--help"]);
  expect(code).toBe(0);
  for (const flag of args.filter((word) => word.startsWith("--"))) expect(stdout).toContain(flag);
}

async function mustBeAFile(text: string): Promise<void> {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "cluster.json");
  writeFileSync(file, text);
  await using opened = await openClusterFile(file, env);
  expect(opened.machine().options.directory).toBe("/data/cluster");
}

interface Compose {
  services: Record<string, { image: string; command?: string[]; volumes?: string[] }>;
  volumes: Record<string, null>;
}

test("compose.yaml", async () => {
  const { services, volumes } = parse(example("compose.yaml"), { merge: true }) as Compose;
  const ours = Object.values(services).filter(({ image }) => image === "quern-cluster");
  expect(ours).toHaveLength(3);
  for (const { command } of ours) if (command) await mustBeTaken(command);
  const named = Object.values(services).flatMap((service) => service.volumes ?? []);
  const names = named.map((volume) => volume.split(":")[0]!);
  expect(names.sort()).toEqual(Object.keys(volumes).sort());
});

test("the image's command and its file", async () => {
  const dockerfile = example("Dockerfile");
  const [, command] = /^CMD (\[.*\])$/m.exec(dockerfile)!;
  await mustBeTaken(JSON.parse(command!) as string[]);
  expect(dockerfile).toContain(`COPY cluster.json ${FILE}`);
  await mustBeAFile(example("cluster.json"));
});

interface Container {
  args: string[];
  volumeMounts: { name: string }[];
}

interface Manifest {
  kind: string;
  data: Record<string, string>;
  spec: {
    selector: { app: string; matchLabels: { app: string } };
    template: {
      metadata: { labels: { app: string } };
      spec: { initContainers: Container[]; containers: Container[]; volumes: { name: string }[] };
    };
    volumeClaimTemplates: { metadata: { name: string } }[];
  };
}

test("kubernetes.yaml", async () => {
  const documents = parseAllDocuments(example("kubernetes.yaml"));
  for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  const manifests = documents.map((one) => one.toJS() as Manifest);
  expect(manifests.map(({ kind }) => kind)).toEqual(["ConfigMap", "Service", "StatefulSet"]);
  const [config, service, set] = manifests.map((one) => one) as [Manifest, Manifest, Manifest];
  await mustBeAFile(config.data["cluster.json"]!);
  const { template, volumeClaimTemplates, selector } = set.spec;
  expect(template.metadata.labels).toEqual(selector.matchLabels);
  expect(service.spec.selector).toEqual(selector.matchLabels);
  const { initContainers, containers, volumes } = template.spec;
  const known = [...volumes, ...volumeClaimTemplates.map(({ metadata }) => metadata)];
  for (const { args, volumeMounts } of [...initContainers, ...containers]) {
    await mustBeTaken(args);
    for (const { name } of volumeMounts) expect(known.map((one) => one.name)).toContain(name);
  }
});
