// One connection to the database. It is used only once it is certain that it is the store that this process knows, with all that it has seen of it.
import { Socket } from 'node:net';
import { Client, type ClientConfig, DatabaseError, type QueryArrayConfig } from 'pg';
import { type Timer, systemClock } from '../../base/index.ts';
import { StorageUnavailableError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

/** A statement that is prepared on each connection when it is first used there. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What a column can be. */
type Column = number | string | boolean | Buffer | null;
export type ResultRow = readonly Column[];

/** The process of the database that serves a connection; its number is used again, with another beginning. */
export interface Backend {
  readonly pid: number;
  readonly beganAt: string;
}

/** What a session does beside answering. */
export interface SessionEvents {
  /** A notification came. */
  readonly notified?: (payload: string) => void;
  /** The connection is gone. Called once, also after close. */
  readonly lost?: () => void;
}

const CONNECT_MS = 2_000;
/** The database gives a statement up after this time, whatever became of its client. */
const STATEMENT_MS = 20_000;

/** Set for each connection, whatever the defaults of the database are. Indexes are always right for these tables, however new their statistics are. */
const settings: Readonly<Record<string, string>> = {
  bytea_output: 'hex', client_encoding: 'UTF8', default_transaction_isolation: 'read committed', statement_timeout: String(STATEMENT_MS),
  idle_in_transaction_session_timeout: String(STATEMENT_MS), enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off',
  enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan', jit: 'off', tcp_keepalives_idle: '30',
};

const parsers: ReadonlyMap<number, (text: string) => Column> = new Map<number, (text: string) => Column>([
  [16, (text) => text === 't'], [17, (text) => Buffer.from(text.slice(2), 'hex')], [20, Number], [23, Number], [701, Number],
]);
const types: ClientConfig['types'] = { getTypeParser: (type: number) => parsers.get(type) ?? String };

/**
 * A socket whose reader may throw. `pg` throws from its reader where bytes are not what the protocol says, which would end the process; here it ends
 * the connection. TLS reads from this socket itself and refuses bytes that were changed on their way.
 */
class DatabaseSocket extends Socket {
  override on(event: string, listener: (...values: any[]) => void): this {
    if (event !== 'data') return super.on(event, listener);
    return super.on('data', (bytes) => {
      try {
        listener(bytes);
      } catch (error) {
        this.destroy(error as Error);
      }
    });
  }
}

/** A connection that is open until it is lost; it is never opened again. */
export class Session {
  readonly backend: Backend;
  readonly #client: Client;
  #isLost = false;

  private constructor(client: Client, backend: Backend, { notified, lost }: SessionEvents) {
    this.#client = client;
    this.backend = backend;
    client.on('end', () => {
      this.#isLost = true;
      lost?.();
    });
    client.on('notification', ({ payload }) => notified?.(payload ?? ''));
  }

  /** Connects to the first host that is there and no standby; rejects with StorageUnavailableError. */
  static async open(endpoint: Endpoint, events: SessionEvents = {}): Promise<Session> {
    const failures: string[] = [];
    for (const { host, port } of endpoint.hosts) {
      try {
        return await Session.#openHost(endpoint, { host, port }, events);
      } catch (error) {
        failures.push(`${host}:${port} ${describe(error)}`);
      }
    }
    throw new StorageUnavailableError(`PostgreSQL (${failures.join('; ')})`, { outcomeKnown: true });
  }

  static async #openHost(endpoint: Endpoint, place: { readonly host: string; readonly port: number }, events: SessionEvents): Promise<Session> {
    const { sslMode } = endpoint;
    try {
      return await Session.#connect(endpoint, { ...place, withTls: sslMode !== 'disable' }, events);
    } catch (error) {
      if (sslMode !== 'prefer' || !/does not support SSL/.test(describe(error))) throw error;
      return Session.#connect(endpoint, { ...place, withTls: false }, events);
    }
  }

  static async #connect(endpoint: Endpoint, place: { host: string; port: number; withTls: boolean }, events: SessionEvents): Promise<Session> {
    const { user, password, database, applicationName, tls } = endpoint;
    const { host, port, withTls } = place;
    const isSocket = host.startsWith('/');
    const client = new Client({
      host, port, user, password, database, application_name: applicationName, types, ssl: withTls && !isSocket ? { ...tls } : false,
      stream: () => new DatabaseSocket(), connectionTimeoutMillis: CONNECT_MS, keepAlive: true, keepAliveInitialDelayMillis: 10_000,
    });
    // Each loss is also reported by the call under way, or by `end`.
    client.on('error', () => undefined);
    await client.connect();
    const timer = systemClock.after(CONNECT_MS, () => destroy(client));
    try {
      return new Session(client, await prepare(client), events);
    } catch (error) {
      destroy(client);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Runs a prepared statement; a connection that does not answer in time is given up. Rejects as `pg` does. */
  async run({ name, text }: Statement, values: readonly unknown[], timeoutMs: number): Promise<readonly ResultRow[]> {
    const query: QueryArrayConfig = { name, text, values: [...values], rowMode: 'array' };
    return this.#limit(timeoutMs, async () => (await this.#client.query<Column[]>(query)).rows);
  }

  /** Runs statements that have no parameters, in one transaction. */
  async runText(text: string, timeoutMs: number): Promise<void> {
    await this.#limit(timeoutMs, () => this.#client.query(text));
  }

  close(): void {
    if (this.#isLost) return;
    this.#client.end().catch(() => undefined);
    systemClock.after(CONNECT_MS, () => destroy(this.#client));
  }

  /** Ends the connection without a word to the database. */
  drop(): void {
    this.#isLost = true;
    destroy(this.#client);
  }

  async #limit<T>(timeoutMs: number, run: () => Promise<T>): Promise<T> {
    const timer: Timer = systemClock.after(timeoutMs, () => this.drop());
    try {
      return await run();
    } finally {
      timer.cancel();
    }
  }
}

/** An answer of the database, not a lost connection. Its statement did nothing if the connection lives on. */
export function isAnswer(error: unknown): error is DatabaseError & { readonly code: string } {
  return error instanceof DatabaseError && error.code !== undefined && !losses.has(error.code) && !error.code.startsWith('08');
}

/** The database ends the connection, or is not what it was when the connection was made. */
const losses: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25006']);

/** An error as text of one line. */
export function describe(error: unknown): string {
  const { message = '', code } = error as { message?: string; code?: string };
  return [message, message.includes(code ?? '') ? undefined : code].filter((part) => part !== undefined && part !== '').join(', ') || String(error);
}

async function prepare(client: Client): Promise<Backend> {
  const chosen = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  const { rows } = await client.query<Column[]>({
    rowMode: 'array',
    text: `SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', a.pid, extract(epoch FROM a.backend_start)::text,
      set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
      ${chosen.join(', ')} FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()`,
  });
  const [isInRecovery, isReadOnly, pid, beganAt] = rows[0] ?? [];
  if (isInRecovery === true) throw new Error('is a standby');
  if (isReadOnly === true) throw new Error('is read-only');
  return { pid: Number(pid), beganAt: String(beganAt) };
}

/** There is no other way to give a connection up at once. */
function destroy(client: Client): void {
  (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream.destroy();
}
