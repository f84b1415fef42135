/** Lists the clients of the Model Context Protocol that quern install knows: where each is configured, and in which form. */

import { join } from "node:path";

/** A server as a client starts it. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

/** A file of a client, and the place of the servers in it. */
export interface ClientFile {
  readonly path: string;
  readonly format: "json" | "toml";
  /** The fields that lead to the table of servers. */
  readonly table: readonly string[];
  /** Returns the value of the entry. */
  readonly entry: (server: ServerEntry) => object;
}

/** What decides where the files of a user are. */
export interface Home {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the project. */
  readonly project: string;
}

interface Client {
  readonly title: string;
  /** The path of the user's file. */
  readonly user: (home: Home) => string;
  /** The path of the project's file, from the folder of the project. Absent if the client reads none. */
  readonly project?: string;
  readonly table: readonly string[];
  readonly format?: "toml";
  readonly entry?: ClientFile["entry"];
}

/** Returns the folder in which programs with windows keep the settings of a user. */
function settings({ platform, home, env }: Home): string {
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return configHome({ home, env });
}

const configHome = ({ home, env }: Pick<Home, "home" | "env">): string =>
  env["XDG_CONFIG_HOME"] || join(home, ".config");

const MCP_SERVERS = ["mcpServers"];

/** The clients, by the names that the command takes. */
export const CLIENTS = {
  "claude-code": {
    title: "Claude Code",
    user: ({ home }) => join(home, ".claude.json"),
    project: ".mcp.json",
    table: MCP_SERVERS,
    entry: (server) => ({ type: "stdio", ...server }),
  },
  "claude-desktop": {
    title: "Claude Desktop",
    user: (home) => join(settings(home), "Claude", "claude_desktop_config.json"),
    table: MCP_SERVERS,
  },
  codex: {
    title: "Codex",
    user: ({ home, env }) => join(env["CODEX_HOME"] || join(home, ".codex"), "config.toml"),
    project: ".codex/config.toml",
    table: ["mcp_servers"],
    format: "toml",
  },
  cursor: {
    title: "Cursor",
    user: ({ home }) => join(home, ".cursor", "mcp.json"),
    project: ".cursor/mcp.json",
    table: MCP_SERVERS,
  },
  vscode: {
    title: "VS Code",
    user: (home) => join(settings(home), "Code", "User", "mcp.json"),
    project: ".vscode/mcp.json",
    table: ["servers"],
    entry: (server) => ({ type: "stdio", ...server }),
  },
  gemini: {
    title: "Gemini CLI",
    user: ({ home }) => join(home, ".gemini", "settings.json"),
    project: ".gemini/settings.json",
    table: MCP_SERVERS,
  },
  opencode: {
    title: "opencode",
    user: (home) => join(configHome(home), "opencode", "opencode.json"),
    project: "opencode.json",
    table: ["mcp"],
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args] }),
  },
  windsurf: {
    title: "Windsurf",
    user: ({ home }) => join(home, ".codeium", "windsurf", "mcp_config.json"),
    table: MCP_SERVERS,
  },
  zed: {
    title: "Zed",
    user: (home) =>
      home.platform === "win32"
        ? join(settings(home), "Zed", "settings.json")
        : join(configHome(home), "zed", "settings.json"),
    project: ".zed/settings.json",
    table: ["context_servers"],
    entry: (server) => ({ source: "custom", ...server, env: {} }),
  },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

/** Returns the file of a client: the user's, or that of the project. Returns undefined if the client reads no such file. */
export function fileOf(
  name: ClientName,
  scope: "user" | "project",
  home: Home,
): ClientFile | undefined {
  const client: Client = CLIENTS[name];
  const { user, project, table, entry = (server) => server } = client;
  if (scope === "project" && project === undefined) return undefined;
  const path = scope === "user" ? user(home) : join(home.project, project!);
  return { path, format: client.format ?? "json", table, entry };
}
