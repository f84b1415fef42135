import { join } from "node:path";

/**
 * Returns the environment in which scripts compare quern with git: no configuration, attributes, grafts or replaced
 * objects. `gitFolder` is the repository, and git runs in `empty`, a folder without files.
 */
export const pureEnvironment = (gitFolder: string, empty: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: empty,
  GIT_DIR: gitFolder,
  GIT_WORK_TREE: empty,
  GIT_INDEX_FILE: join(empty, "none"),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null",
});
