/**
 * Defines the configuration of `quern sync`. It lists connections to code hosts, and says which repositories of each
 * host are indexed.
 */

import type { HistoryLimits } from "../../ingest/sources/source.ts";

/**
 * A configuration of `quern sync`, as readSyncConfig() reads it from a file.
 *
 * @example
 * const config: SyncConfig = {
 *   connections: {
 *     acme: { type: "github", orgs: ["acme"], token: { env: "GITHUB_TOKEN" } },
 *     notes: { type: "git", urls: ["https://git.example.org/notes.git"] },
 *   },
 * };
 */
export interface SyncConfig {
  /** The address of the JSON schema, for editors. The package contains the schema as quern.schema.json. */
  $schema?: string;
  /** The data directory that the command uses, relative to the file's folder. syncConnections() ignores it. */
  db?: string;
  /**
   * Default values for options of the command line, by command and by the long name of the option. syncConnections()
   * ignores them.
   */
  command?: Record<string, Record<string, string | number | boolean | (string | number)[]>>;
  /** The connections by name. A name has up to 64 letters, digits, dots, dashes and underscores. */
  connections: Record<string, ConnectionConfig>;
  /** Settings that apply to all connections. */
  sync?: SyncSettings;
}

/**
 * Settings that apply to the runs of all connections.
 *
 * @example
 * const sync: SyncSettings = { parallel: 8, removeAfter: "14d", stallTimeout: "5m" };
 */
export interface SyncSettings {
  /**
   * The time from the end of a run to the start of the next run, such as '10m'. By default, runs are not repeated.
   * The option --every overrides this setting.
   */
  every?: string;
  /** The number of repositories that are cloned or fetched at once, from 1 to 64. Default 4. */
  parallel?: number;
  /**
   * How long a repository stays in the index after its host has stopped listing it. Default '7d'. With '0s', the
   * repository is removed immediately.
   */
  removeAfter?: string;
  /**
   * How long a fetch may receive no data, and how long a request to a host may take, before quern cancels it. Default
   * '2m'.
   */
  stallTimeout?: string;
}

/**
 * The name of an environment variable that holds a secret. A configuration never contains the secret
 * itself.
 *
 * @example
 * const token: SecretFromEnvironment = { env: "GITHUB_TOKEN" };
 */
export interface SecretFromEnvironment {
  /** The variable's name. */
  env: string;
}

/**
 * Fields that every connection may have.
 *
 * @example
 * const common: CommonConnectionConfig = {
 *   token: { env: "GITLAB_TOKEN" },
 *   include: { names: ["acme/*"] },
 *   exclude: { archived: true, forks: true, largerThanMB: 2_000 },
 *   branches: ["release-*"],
 * };
 */
export interface CommonConnectionConfig {
  /**
   * The token for the host's API and for git. Default: none, which is enough for public repositories.
   */
  token?: SecretFromEnvironment;
  /** The user name that belongs to the token. Gerrit requires it, and so do Bitbucket's API tokens. */
  username?: string;
  /**
   * A template for the names of repositories in the index, with {host}, {path} and {name}. Default
   * '{host}/{path}'.
   */
  name?: string;
  /**
   * Whether users without a credential can see the repositories (serve --anonymous public). By default, they can see
   * the repositories that are public on the host.
   */
  public?: boolean;
  /** Includes only repositories that meet all of these conditions. Default: all repositories that the host lists. */
  include?: {
    /**
     * Patterns for paths, such as 'acme/*'. '*' matches any text, '?' any character, and case does not matter. At
     * least one pattern must match.
     */
    names?: string[];
    /** The repository must have at least one of these topics. If the host has no topics, no repository matches. */
    topics?: string[];
  };
  /** Excludes repositories that meet any of these conditions. Default: none. */
  exclude?: {
    /** Patterns for paths, as in `include`. */
    names?: string[];
    /** A repository that has one of these topics is excluded. */
    topics?: string[];
    /** Whether to exclude archived repositories. Default false. */
    archived?: boolean;
    /** Whether to exclude forks. Default false. */
    forks?: boolean;
    /** Excludes repositories that are larger than this according to the host, in millions of bytes. */
    largerThanMB?: number;
  };
  /** Patterns for the names of branches that are indexed in addition to the default branch. */
  branches?: string[];
  /** Patterns for the names of tags that are indexed. Default: none. */
  tags?: string[];
  /**
   * Whether the history of the indexed branches and tags is indexed as well, so that `type:diff` and `type:commit`
   * search it. Limits may be given instead of true. Default false.
   */
  history?: boolean | HistoryLimits;
  /** How deliveries to POST /api/webhook/{connection} are authenticated. By default, all deliveries are rejected. */
  webhook?: {
    /** The secret that was entered in the settings of the webhook on the host. */
    secret: SecretFromEnvironment;
    /** The user name for basic authentication, which only Azure DevOps uses. Default 'quern'. */
    username?: string;
  };
}

/**
 * A source of repositories, such as a code host. At least one of its lists must have an entry. The lists may be empty
 * only for Gerrit, or if `all` is true.
 *
 * @example
 * const connection: ConnectionConfig = {
 *   type: "gitlab",
 *   url: "https://gitlab.example.org",
 *   groups: ["platform"],
 *   token: { env: "GITLAB_TOKEN" },
 * };
 */
export type ConnectionConfig = CommonConnectionConfig &
  (
    | {
        /** GitHub and GitHub Enterprise. */
        type: "github";
        /** The address of the host. Default 'https://github.com'. */
        url?: string;
        /**
         * The address of the host's API. Default 'https://api.github.com' for GitHub, and /api/v3 below `url` for
         * other hosts.
         */
        api?: string;
        /** Organizations. */
        orgs?: string[];
        /** Users. Private repositories are listed only for the user to whom the token belongs. */
        users?: string[];
        /** Repositories, such as 'acme/shop'. */
        repos?: string[];
      }
    | {
        /** GitLab, on gitlab.com or on another host. */
        type: "gitlab";
        /** The address of the host. Default 'https://gitlab.com'. */
        url?: string;
        /** Groups, such as 'acme' or 'acme/tools'. Their subgroups are included. */
        groups?: string[];
        /** Users. */
        users?: string[];
        /** Projects, such as 'acme/tools/shop'. */
        repos?: string[];
        /** Whether to include every project that the token may read. */
        all?: boolean;
      }
    | {
        /** Gitea and Forgejo. */
        type: "gitea";
        /** The address of the server, such as 'https://gitea.example.org'. */
        url: string;
        /** Organizations. */
        orgs?: string[];
        /** Users. */
        users?: string[];
        /** Repositories, such as 'acme/shop'. */
        repos?: string[];
        /** Whether to include every repository that the token may read. */
        all?: boolean;
      }
    | {
        /** Bitbucket Cloud. */
        type: "bitbucket";
        /** The address of the host. Default 'https://bitbucket.org'. */
        url?: string;
        /** The address of the host's API. Default 'https://api.bitbucket.org/2.0'. */
        api?: string;
        /** Workspaces. */
        workspaces?: string[];
        /** Repositories, such as 'workspace/shop'. */
        repos?: string[];
      }
    | {
        /** Azure DevOps in the cloud, or Azure DevOps Server. */
        type: "azuredevops";
        /**
         * The address of the host. For Azure DevOps Server, the address must not contain the name of a collection.
         * Default 'https://dev.azure.com'.
         */
        url?: string;
        /** Organizations, or collections of an Azure DevOps Server. */
        orgs?: string[];
        /** Projects, each with its organization, such as 'acme/shop'. */
        projects?: string[];
        /** Repositories, each with its organization and project, such as 'acme/shop/backend'. */
        repos?: string[];
      }
    | {
        /** Gerrit. */
        type: "gerrit";
        /** The address of the server, such as 'https://gerrit.example.org'. */
        url: string;
        /** Projects. Default: all projects that contain code. */
        repos?: string[];
      }
    | {
        /** Any remote that git can fetch from. */
        type: "git";
        /** Addresses that git accepts: 'https://…', 'ssh://…', 'user@host:path', 'file:///…'. */
        urls: string[];
      }
    | {
        /**
         * A folder of clones that another program maintains. quern reads the clones in place, and never fetches into
         * them.
         */
        type: "folder";
        /** The path of the folder. In a configuration file, a relative path starts at the folder of that file. */
        path: string;
        /** The number of folder levels that are searched for clones, from 1 to 10. Default 3. */
        depth?: number;
      }
  );

/**
 * A kind of connection.
 *
 * @example
 * const isLocal = (type: ConnectionType): boolean => type === "folder";
 */
export type ConnectionType = ConnectionConfig["type"];

export const CONNECTION_NAME = /^[\w.-]{1,64}$/;

/** Converts a duration such as '90s', '10m', '2h' or '7d' to milliseconds. Returns undefined for any other text. */
export function milliseconds(duration: string): number | undefined {
  const found = /^(\d{1,6})(s|m|h|d)$/.exec(duration);
  if (found === null) return undefined;
  return Number(found[1]) * UNITS[found[2] as keyof typeof UNITS];
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DEFAULTS = { parallel: 4, removeAfter: "7d", stallTimeout: "2m", depth: 3 } as const;
