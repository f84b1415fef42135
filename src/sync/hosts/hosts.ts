/** Maps each type of connection to the implementation of its code host. */

import type { ConnectionConfig, ConnectionType } from "../config/config.ts";
import { azureDevOps } from "./azure-devops.ts";
import { bitbucket } from "./bitbucket.ts";
import { folder } from "./folder.ts";
import { gerrit } from "./gerrit.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import type { Host } from "./host.ts";
import { plainGit } from "./plain-git.ts";

const HOSTS: { readonly [Type in ConnectionType]: Host<Type> } = {
  github,
  gitlab,
  gitea,
  bitbucket,
  azuredevops: azureDevOps,
  gerrit,
  git: plainGit,
  folder,
};

/**
 * Returns the host for the type of a connection. REQUIRES: the methods of the host are called only with this
 * configuration.
 */
export const hostFor = (config: ConnectionConfig): Host<ConnectionType> =>
  HOSTS[config.type] as unknown as Host<ConnectionType>;
