/** The examples of a deployment are well-formed, and quern accepts the arguments and settings in them. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { openClusterFile } from "../../src/cli/cluster-file.ts";
import { quern } from "../cli/terminal.ts";
import { temporaryFolder } from "../engine/opened.ts";

const FOLDER = "examples/cluster";
const FILES = ["/etc/quern/front.json", "/etc/quern/node.json"];
const SECRETS = {
  DATABASE_URL: "postgres://quern:secret@127.0.0.1:1/quern",
  QUERN_SECRET: "a secret of the machines",
};
const example = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

/** Rejects unless the command accepts these arguments. Runs nothing, because --help comes first. */
async function mustBeTaken(args: readonly string[]): Promise<void> {
  expect(args.filter((word) => FILES.includes(word))).toHaveLength(1);
  const words = args.filter((word, n) => !word.startsWith("-") && !args[n - 1]?.startsWith("--"));
  const { code, stdout } = await quern([
    ...words.filter((word) => !FILES.includes(word)),
    "--help",
  ]);
  expect(code).toBe(0);
  for (const flag of args.filter((word) => word.startsWith("--"))) expect(stdout).toContain(flag);
}

/** Resolves to the machine that this configuration file describes. */
async function machineOf(text: string, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "cluster.json");
  writeFileSync(file, text);
  await using opened = await openClusterFile(file, { ...SECRETS, ...env });
  const { options, listen } = opened.machine();
  expect(options.directory).toBe("/data/cluster");
  return { node: options.node, secret: options.secret, listen };
}

async function mustBeNodeAndFront(node: string, front: string): Promise<void> {
  const env = { QUERN_NODE: "one", QUERN_NODE_URL: "http://one:7001" };
  const secret = SECRETS.QUERN_SECRET;
  expect(await machineOf(node, env)).toEqual({
    node: { name: "one", url: "http://one:7001", secret, diskBytes: 1e11 },
    secret: undefined,
    listen: { host: "0.0.0.0", port: 7001 },
  });
  expect(await machineOf(front)).toEqual({ node: undefined, secret, listen: undefined });
}

interface ComposeService {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  volumes?: string[];
}

interface Compose {
  services: Record<string, ComposeService>;
  volumes: Record<string, null>;
}

test("the services of compose.yaml are valid", async () => {
  const { services, volumes } = parse(example("compose.yaml"), { merge: true }) as Compose;
  const ours = Object.entries(services).filter(([, { image }]) => image === "quern-cluster");
  expect(ours.map(([name]) => name)).toEqual(["migrate", "one", "two", "front"]);
  for (const [name, { command, environment }] of ours) {
    if (command) await mustBeTaken(command);
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(SECRETS)));
    if (command?.[1] !== "node") continue;
    const { QUERN_NODE, QUERN_NODE_URL } = environment;
    expect([QUERN_NODE, QUERN_NODE_URL]).toEqual([name, `http://${name}:7001`]);
  }
  const named = Object.values(services).flatMap((service) => service.volumes ?? []);
  const names = named.map((volume) => volume.split(":")[0]!);
  expect(names.sort()).toEqual(Object.keys(volumes).sort());
});

test("the image's command accepts its arguments and files", async () => {
  const dockerfile = example("Dockerfile");
  const [, command] = /^CMD (\[.*\])$/m.exec(dockerfile)!;
  await mustBeTaken(JSON.parse(command!) as string[]);
  expect(dockerfile).toContain("COPY front.json node.json /etc/quern/");
  await mustBeNodeAndFront(example("node.json"), example("front.json"));
});

interface Container {
  args: string[];
  env?: { name: string; value?: string }[];
  volumeMounts: { name: string }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  data: Record<string, string>;
  spec: {
    selector: { app: string; matchLabels: { app: string } };
    serviceName?: string;
    template: {
      metadata: { labels: { app: string } };
      spec: { initContainers?: Container[]; containers: Container[]; volumes: { name: string }[] };
    };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

test("the containers of kubernetes.yaml are valid", async () => {
  const documents = parseAllDocuments(example("kubernetes.yaml"));
  for (const { errors, warnings } of documents) expect([...errors, ...warnings]).toEqual([]);
  const manifests = documents.map((one) => one.toJS() as Manifest);
  const kinds = ["ConfigMap", "Service", "StatefulSet", "Service", "Deployment"];
  expect(manifests.map(({ kind }) => kind)).toEqual(kinds);
  const [config, names, nodes, service, fronts] = manifests as [
    Manifest,
    Manifest,
    Manifest,
    Manifest,
    Manifest,
  ];
  await mustBeNodeAndFront(config.data["node.json"]!, config.data["front.json"]!);
  expect(nodes.spec.serviceName).toBe(names.metadata.name);
  const [{ env = [] }] = nodes.spec.template.spec.containers as [Container];
  expect(env.find(({ name }) => name === "QUERN_NODE_URL")?.value).toBe(
    `http://$(QUERN_NODE).${names.metadata.name}:7001`,
  );
  for (const [before, set] of [
    [names, nodes],
    [service, fronts],
  ] as const) {
    const { template, volumeClaimTemplates = [], selector } = set.spec;
    expect(template.metadata.labels).toEqual(selector.matchLabels);
    expect(before.spec.selector).toEqual(selector.matchLabels);
    const { initContainers = [], containers, volumes } = template.spec;
    const known = [...volumes, ...volumeClaimTemplates.map(({ metadata }) => metadata)];
    for (const { args, volumeMounts } of [...initContainers, ...containers]) {
      await mustBeTaken(args);
      for (const { name } of volumeMounts) expect(known.map((one) => one.name)).toContain(name);
    }
  }
});
