/**
 * Opens a connection of the configuration, and reads its secret from the environment. An open connection lists its
 * repositories, and provides the credential with which git fetches them.
 */

import type { CodeHostType } from "../store/format/records.ts";
import type { ConnectionConfig } from "./config/config.ts";
import type { Listed } from "./hosts/found.ts";
import { HostClient } from "./hosts/host-client.ts";
import type { Credential } from "./hosts/host.ts";
import { hostFor } from "./hosts/hosts.ts";
import type { GitCredential } from "./clones/remote-git.ts";
import { readSecret, type Variables } from "./config/secrets.ts";

export interface Connection {
  readonly id: number;
  readonly name: string;
  readonly config: ConnectionConfig;
  readonly codeHostType: CodeHostType;
  readonly stallMs: number;
  readonly list: () => AsyncGenerator<Listed>;
  /**
   * Returns the credential that git needs for an address. Returns undefined if the connection has no token, or if the
   * address is not an http or https address.
   */
  readonly credentialFor: (url: string) => GitCredential | undefined;
  /**
   * Whether the list must contain this repository if the host still has it. A list that is limited to one repository
   * says nothing about other repositories.
   */
  readonly covers: (repository: { readonly path: string }) => boolean;
}

export interface ConnectionOptions {
  readonly id: number;
  readonly name: string;
  readonly config: ConnectionConfig;
  readonly env: Variables;
  readonly signal: AbortSignal;
  readonly stallMs: number;
  /** If given, the list is limited to this repository. */
  readonly repository: string | undefined;
  readonly onWait: (host: string, ms: number) => void;
}

/** Opens a connection. Throws INVALID_REQUEST if the environment does not contain its secret. */
export function openConnection(options: ConnectionOptions): Connection {
  const { id, name, config, stallMs, signal, repository } = options;
  const host = hostFor(config);
  const credential = credentialOf(options);
  const base = host.api(config);
  const client = new HostClient({
    base: base ?? "http://localhost", // never used, because this kind of host has no API
    headers: credential === undefined ? {} : host.headers(credential),
    secrets: credential === undefined ? [] : [credential.token],
    signal,
    timeoutMs: stallMs,
    onWait: options.onWait,
  });
  const asked = repository === undefined ? config : narrowed(config, repository);
  return {
    id,
    name,
    config,
    codeHostType: host.codeHostType,
    stallMs,
    list: () => host.list(asked, { client, signal, isSignedIn: credential !== undefined }),
    credentialFor: (url) =>
      credential === undefined || !/^https?:/i.test(url)
        ? undefined
        : {
            origin: new URL(url).origin,
            user: host.gitUser(credential),
            secret: credential.token,
          },
    covers: ({ path }) => repository === undefined || path === repository,
  };
}

function credentialOf({ config, env, name }: ConnectionOptions): Credential | undefined {
  const { token, username } = config;
  if (token === undefined) return undefined;
  const secret = readSecret(token, env, `the connection ${name}`);
  return { token: secret, ...(username !== undefined && { username }) };
}

/** Limits a connection to one repository. Connections of the types git and folder are returned unchanged. */
function narrowed(config: ConnectionConfig, repository: string): ConnectionConfig {
  const repos = [repository];
  const { type, url, token, username } = config as Extract<ConnectionConfig, { type: "gitea" }>;
  const api = "api" in config ? { api: config.api } : {};
  if (config.type === "git" || config.type === "folder") return config;
  const common = { token, username, ...(url !== undefined && { url }), ...api, repos };
  return { type, ...common } as ConnectionConfig;
}
