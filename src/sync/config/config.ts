/** Defines the configuration of `quern sync`: connections to code hosts, and which repositories to take from each. */

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
  /** The address at which editors find the schema: quern.schema.json in the package. */
  $schema?: string;
  /** The data directory that the command uses, relative to the file's folder. syncConnections() ignores it. */
  db?: string;
  /** Defaults of the command's options, by command and long name. syncConnections() ignores them. */
  command?: Record<string, Record<string, string | number | boolean | (string | number)[]>>;
  /** The connections, by their names of up to 64 letters, digits, dots, dashes and underscores. */
  connections: Record<string, ConnectionConfig>;
  /** Settings of all connections. */
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
   * The time from the end of a run to the next one, such as '10m'. Default: one run. The option --every
   * overrides it.
   */
  every?: string;
  /** How many clones or fetches run at once. Default 4, at most 64. */
  parallel?: number;
  /**
   * How long a repository stays after its host has stopped listing it. Default '7d'. With '0s' it is removed
   * immediately.
   */
  removeAfter?: string;
  /** How long a fetch or a request may receive no data before it is given up. Default '2m'. */
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
  /** The user of the token, for hosts that require it: Gerrit, and Bitbucket's API tokens. */
  username?: string;
  /**
   * A template for the names of repositories in the index, with {host}, {path} and {name}. Default
   * '{host}/{path}'.
   */
  name?: string;
  /**
   * Whether repositories are visible without a credential (serve --anonymous public). Default: whether they are public
   * on their host.
   */
  public?: boolean;
  /** Includes only repositories that meet every condition. Default: all that are listed. */
  include?: {
    /**
     * Patterns for paths, such as 'acme/*'. '*' matches any text, '?' any character, and case does not matter. At
     * least one must match.
     */
    names?: string[];
    /** The repository must have at least one of these topics. If the host has no topics, no repository matches. */
    topics?: string[];
  };
  /** Excludes repositories that meet any condition. Default: none. */
  exclude?: {
    /** Patterns, as in include. */
    names?: string[];
    /** Topics. */
    topics?: string[];
    /** Whether to exclude archived repositories. Default false. */
    archived?: boolean;
    /** Whether to exclude forks. Default false. */
    forks?: boolean;
    /** Excludes repositories that are larger than this according to the host, in millions of bytes. */
    largerThanMB?: number;
  };
  /** Patterns of branches that are searchable in addition to the default branch. */
  branches?: string[];
  /** Patterns of tags that are searchable. */
  tags?: string[];
  /** How deliveries to POST /api/webhook/{connection} are authenticated. Default: they are rejected. */
  webhook?: {
    /** The secret that was entered on the host for its webhook. */
    secret: SecretFromEnvironment;
    /** For Azure DevOps only: the user name of its basic authentication. Default 'quern'. */
    username?: string;
  };
}

/**
 * A source of repositories. At least one of its lists must not be empty.
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
        /** The address of its API. Default: 'https://api.github.com', for other hosts /api/v3 below url. */
        api?: string;
        /** Organizations. */
        orgs?: string[];
        /** Users. Private repositories are listed only for the token's own user. */
        users?: string[];
        /** Repositories, such as 'acme/shop'. */
        repos?: string[];
      }
    | {
        /** GitLab, of any host. */
        type: "gitlab";
        /** The address of the host. Default 'https://gitlab.com'. */
        url?: string;
        /** Groups with their subgroups, as 'acme' or 'acme/tools'. */
        groups?: string[];
        /** Users. */
        users?: string[];
        /** Projects, as 'acme/tools/shop'. */
        repos?: string[];
        /** Whether to take every project that the token may read. */
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
        /** Whether to take every repository that the token may read. */
        all?: boolean;
      }
    | {
        /** Bitbucket Cloud. */
        type: "bitbucket";
        /** The address of the host. Default 'https://bitbucket.org'. */
        url?: string;
        /** The address of its API. Default 'https://api.bitbucket.org/2.0'. */
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
         * The address of the host, for Azure DevOps Server without the name of a collection.
         * Default 'https://dev.azure.com'.
         */
        url?: string;
        /** Organizations, or collections of an Azure DevOps Server. */
        orgs?: string[];
        /** Projects, such as 'acme/shop' for organization and project. */
        projects?: string[];
        /** Repositories, such as 'acme/shop/backend' for organization, project and repository. */
        repos?: string[];
      }
    | {
        /** Gerrit. */
        type: "gerrit";
        /** The address of the server, such as 'https://gerrit.example.org'. */
        url: string;
        /** Projects. Default: all that contain code. */
        repos?: string[];
      }
    | {
        /** Any remote that git can fetch from. */
        type: "git";
        /** Addresses that git accepts: 'https://…', 'ssh://…', 'user@host:path', 'file:///…'. */
        urls: string[];
      }
    | {
        /** A folder of clones that another program maintains. They are read in place and never fetched. */
        type: "folder";
        /** The path. In a file, it is relative to the file's folder. */
        path: string;
        /** How many levels of folders are searched for clones. Default 3, at most 10. */
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

/** Returns the milliseconds of '90s', '10m', '2h' or '7d', or undefined for any other text. */
export function milliseconds(duration: string): number | undefined {
  const found = /^(\d{1,6})(s|m|h|d)$/.exec(duration);
  if (found === null) return undefined;
  return Number(found[1]) * UNITS[found[2] as keyof typeof UNITS];
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DEFAULTS = { parallel: 4, removeAfter: "7d", stallTimeout: "2m", depth: 3 } as const;
