/**
 * The tools, resources and prompts that the protocol's conformance suite calls by name, in addition to those of code
 * search.
 */

import { setTimeout as sleep } from "node:timers/promises";
import {
  completable,
  inputRequired,
  ResourceTemplate,
  type ContentBlock,
  type InputRequest,
  type McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { QuernError } from "../../src/base/errors.ts";
import { tool, type Tool } from "../../src/mcp/tool.ts";

/** Adds the fixtures to a server. `add` registers a tool of our kind. */
export function addFixtures(server: McpServer, add: (tool: Tool) => void): void {
  for (const one of OUR_KIND) add(one);
  for (const [name, content] of Object.entries(CONTENTS))
    server.registerTool(name, TAKES_NOTHING, () => ({ content: [...content] }));
  addDiagnostics(server);
  addResources(server);
  addPrompts(server);
}

const description = "A fixture.";
const NOTHING = z.object({});
const TAKES_NOTHING = { description, inputSchema: NOTHING };

// ── tools that use quern's own wrapper: guarded, reported while they run, with errors as text ──

const LONG_ENOUGH_FOR_THREE_NOTICES_MS = 1_750;

const fixture = (name: string, run: () => Promise<string>) =>
  tool({
    name,
    title: name,
    description,
    input: NOTHING,
    output: ["shown", "complete"],
    run: async () => ({ text: await run(), facts: { shown: 1, complete: true } }),
  });

const OUR_KIND = [
  fixture("test_simple_text", async () => "This is a simple text response for testing."),
  fixture("test_logging_tool", async () => "Nothing is logged."),
  fixture("test_error_handling", () => {
    throw new QuernError("INVALID_REQUEST", "this tool always fails");
  }),
  fixture("test_tool_with_progress", async () => {
    await sleep(LONG_ENOUGH_FOR_THREE_NOTICES_MS);
    return "done";
  }),
];

// ── contents that none of quern's tools has ──

/** One red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** The head of a file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const image: ContentBlock = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri: string, mimeType: string, text: string): ContentBlock => ({
  type: "resource",
  resource: { uri, mimeType, text },
});

const CONTENTS: Readonly<Record<string, readonly ContentBlock[]>> = {
  test_image_content: [image],
  test_audio_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  test_embedded_resource: [embedded("test://embedded", "text/plain", "An embedded resource.")],
  test_multiple_content_types: [
    { type: "text", text: "Text, an image and a resource:" },
    image,
    embedded("test://mixed", "application/json", `{"test":"data","value":123}`),
  ],
};

// ── abilities that a client must have ──

function addDiagnostics(server: McpServer): void {
  const ask = (request: InputRequest) => inputRequired({ inputRequests: { request } });
  server.registerTool("test_missing_capability", TAKES_NOTHING, () =>
    ask(inputRequired.createMessage({ messages: [], maxTokens: 1 })),
  );
  const requestedSchema = { type: "object" as const, properties: {} };
  server.registerTool("test_streaming_elicitation", TAKES_NOTHING, () =>
    ask(inputRequired.elicit({ message: "Go on?", requestedSchema })),
  );
}

// ── resources and prompts ──

function addResources(server: McpServer): void {
  const text = { uri: "test://static-text", mimeType: "text/plain", text: "A static text." };
  server.registerResource("text", text.uri, {}, () => ({ contents: [text] }));
  const binary = { uri: "test://static-binary", mimeType: "image/png", blob: PNG };
  server.registerResource("binary", binary.uri, {}, () => ({ contents: [binary] }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, {}, ({ href }, { id }) => ({
    contents: [
      { uri: href, mimeType: "application/json", text: JSON.stringify({ id, data: true }) },
    ],
  }));
}

const said = (...contents: readonly ContentBlock[]) => ({
  messages: contents.map((content) => ({ role: "user" as const, content })),
});
const words = (text: string): ContentBlock => ({ type: "text", text });

function addPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description }, () =>
    said(words("A simple prompt.")),
  );
  server.registerPrompt("test_prompt_with_image", { description }, () =>
    said(image, words("Look at it.")),
  );
  const begun = completable(z.string(), (value) => [`${value}is`]);
  const both = { description, argsSchema: z.object({ arg1: begun, arg2: z.string() }) };
  server.registerPrompt("test_prompt_with_arguments", both, ({ arg1, arg2 }) =>
    said(words(`arg1='${arg1}', arg2='${arg2}'`)),
  );
  const named = { description, argsSchema: z.object({ resourceUri: z.string() }) };
  server.registerPrompt("test_prompt_with_embedded_resource", named, ({ resourceUri }) =>
    said(embedded(resourceUri, "text/plain", "An embedded resource."), words("Read it.")),
  );
}
