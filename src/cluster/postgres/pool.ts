/**
 * Defines the part of a pool of PostgreSQL connections that quern uses. `new Pool()` of the package `pg` fits. The
 * host loads that package; quern does not. Statements are never named, so PgBouncer in transaction mode works, too.
 */

/**
 * The answer to a statement.
 *
 * @example
 * const names = ({ rows }: PostgresResult): unknown[] => rows.map(({ name }) => name);
 */
export interface PostgresResult {
  /** The rows that the statement returns. The keys of a row are the names of the columns. */
  rows: Record<string, unknown>[];
  /** How many rows the statement changed or returned. */
  rowCount: number | null;
}

/**
 * A pool, or a connection of a pool. Both can run statements.
 *
 * @example
 * const now = async (pool: PostgresQueries): Promise<unknown> =>
 *   (await pool.query("select now()")).rows[0]?.now;
 */
export interface PostgresQueries {
  /**
   * Runs one statement, with `values` for its `$1`, `$2` and so on.
   *
   * @example
   * declare const pool: PostgresPool;
   * await pool.query("select $1::int + 1", [41]);
   */
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/**
 * One connection of a pool.
 *
 * @example
 * declare const pool: PostgresPool;
 * const client = await pool.connect();
 * client.release();
 */
export interface PostgresClient extends PostgresQueries {
  /**
   * Releases the connection, or closes it if `destroy` is true.
   *
   * @example
   * declare const client: PostgresClient;
   * client.release(true);
   */
  release(destroy?: boolean): void;
}

/**
 * A pool of connections, such as `new Pool()` of the package `pg`.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const handler = createHandler(engine, { tokens: postgresTokenStore(pool) });
 */
export interface PostgresPool extends PostgresQueries {
  /**
   * Takes a connection from the pool, for a transaction.
   *
   * @example
   * declare const pool: PostgresPool;
   * const client = await pool.connect();
   * await client.query("begin");
   */
  connect(): Promise<PostgresClient>;
}

/**
 * Runs `work` in a new transaction. If `work` rejects, the transaction is rolled back. If the rollback fails, the
 * connection is closed.
 */
export async function inTransaction<T>(
  pool: PostgresPool,
  work: (client: PostgresQueries) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}
