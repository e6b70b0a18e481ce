// Opens the Store over PostgreSQL: makes the tables or brings them up to date, then connects.
import { type Clock, type Random, systemRandom } from '../../base/index.ts';
import type { StorageHealth } from '../health.ts';
import { type RestoredKey, formBatches } from '../image.ts';
import type { Store } from '../store.ts';
import { encodeBytesArray, encodeFloatArray, encodeIntegerArray } from './arrays.ts';
import { Database, unavailable } from './database.ts';
import { type Endpoint, type PostgresTls, parseEndpoint } from './endpoint.ts';
import { SCHEMA_VERSION, createStatements, listMigrations, lockOf } from './schema.ts';
import { Session, isAnswer } from './session.ts';
import { PostgresStore } from './postgres-store.ts';
import { redactPostgresUrl } from './url.ts';
import { Witness } from './witness.ts';

/** Options of a PostgreSQL Store. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database?…`; several hosts with commas, of which the one that is no standby is used. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly tls?: PostgresTls;
  /** Time between compactions, by one of all servers; 5 minutes when absent, 0: never. */
  readonly compactionIntervalMs?: number;
  /** Connections for reads; a writer and a listener come to them. */
  readonly readers?: number;
  readonly health?: StorageHealth;
  /** Called with each lost connection, which the Store opens again by itself. */
  readonly report?: (error: unknown) => void;
}

const FIVE_MINUTES_MS = 300_000;
const READERS = 4;
const MIGRATE_MS = 20_000;
const OPEN_MS = 4_000;
const MIGRATION_LOCK = 0;

/** Connects to PostgreSQL; rejects with StorageUnavailableError when that is not possible, RangeError for what is no endpoint. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { clock, tls, health, random = systemRandom, compactionIntervalMs = FIVE_MINUTES_MS, readers = READERS, report = () => undefined } = options;
  const endpoint = parseEndpoint(options.endpoint, tls);
  await prepareTables(endpoint);
  let store: PostgresStore | undefined;
  const witness = new Witness((error) => store?.fail(error));
  const statements = createStatements(endpoint.schema);
  const database = new Database({ endpoint, statements, witness, readers, report });
  try {
    const [row] = await database.read(statements.witness, [0]);
    const revision = Number(row?.[1]);
    store = new PostgresStore({ database, schema: endpoint.schema, clock, random, health, compactionIntervalMs, revision });
    return store;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Raises the revision of a stopped store by `by`, so that clients list again; answers the new one. */
export async function bumpPostgresRevision(options: Pick<PostgresStoreOptions, 'endpoint' | 'tls'>, by: number): Promise<number> {
  const endpoint = parseEndpoint(options.endpoint, options.tls);
  await prepareTables(endpoint);
  const { bump } = createStatements(endpoint.schema);
  const [row] = await withSession(endpoint, (session) => session.run(bump, [by, Number.MAX_SAFE_INTEGER], OPEN_MS));
  if (row === undefined) throw new RangeError(`the revision cannot be raised by ${by}`);
  return Number(row[0]);
}

/** What a store is filled with. */
export interface PostgresRestore extends Pick<PostgresStoreOptions, 'endpoint' | 'tls'> {
  /** The revision from which the store continues; everything before is compacted. */
  readonly revision: number;
  readonly keys: Iterable<RestoredKey>;
}

/** Fills an empty store with the keys of a backup, each at its revisions: all of them or none. Rejects when the store is not empty. */
export async function restorePostgresStore({ keys, revision, ...place }: PostgresRestore): Promise<void> {
  const endpoint = parseEndpoint(place.endpoint, place.tls);
  await prepareTables(endpoint);
  const { isEmpty, restore, finishRestore } = createStatements(endpoint.schema);
  await withSession(endpoint, async (session) => {
    await session.runText('BEGIN', MIGRATE_MS);
    await session.runText(`SELECT ${lockOf(endpoint.schema, MIGRATION_LOCK)}`, MIGRATE_MS);
    if ((await session.run(isEmpty, [], OPEN_MS))[0]?.[0] !== true) throw new Error(`${redactPostgresUrl(place.endpoint)} is not empty`);
    for (const batch of formBatches(keys)) {
      await session.run(restore, [
        encodeBytesArray(batch.map(({ key }) => Buffer.from(key))), encodeBytesArray(batch.map(({ value }) => value)),
        encodeIntegerArray(batch.map(({ modRevision }) => modRevision)), encodeIntegerArray(batch.map(({ createRevision }) => createRevision)),
        encodeFloatArray(batch.map(({ ttlSeconds }) => ttlSeconds)),
      ], MIGRATE_MS);
    }
    await session.run(finishRestore, [revision], OPEN_MS);
    await session.runText('COMMIT', MIGRATE_MS);
  });
}

async function withSession<T>(endpoint: Endpoint, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await Session.open(endpoint);
  try {
    return await work(session);
  } catch (error) {
    throw unavailable(error, true);
  } finally {
    session.close();
  }
}

/** Rights to make a schema are needed only where there is none. */
async function prepareTables(endpoint: Endpoint): Promise<void> {
  await withSession(endpoint, async (session) => {
    const { schema } = endpoint;
    if ((await readVersion(session, schema)) === SCHEMA_VERSION) return;
    await session.runText(`DO $$ BEGIN IF to_regnamespace('${schema}') IS NULL THEN CREATE SCHEMA IF NOT EXISTS ${schema}; END IF; END $$`, MIGRATE_MS)
      .catch((error: unknown) => ignoreRace(error));
    await session.runText('BEGIN', MIGRATE_MS);
    await session.runText(`SELECT ${lockOf(schema, MIGRATION_LOCK)}`, MIGRATE_MS);
    const version = await readVersion(session, schema);
    const steps = listMigrations(schema).slice(version);
    if (steps.length > 0) await session.runText(`${steps.join('')}UPDATE ${schema}.meta SET version = ${SCHEMA_VERSION}`, MIGRATE_MS);
    await session.runText('COMMIT', MIGRATE_MS);
  });
}

/** 0: there are no tables. */
async function readVersion(session: Session, schema: string): Promise<number> {
  // Not by to_regclass, which may answer from a cache of names that is as old as the transaction.
  const text = `SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '${schema}' AND c.relname = 'meta'`;
  const [found] = await session.run({ name: '', text }, [], OPEN_MS);
  if (found?.[0] !== 1) return 0;
  const [row] = await session.run({ name: '', text: `SELECT version FROM ${schema}.meta` }, [], OPEN_MS);
  const version = Number(row?.[0]);
  if (version > SCHEMA_VERSION) throw new Error(`the tables are of version ${version}, which this program does not know (it knows ${SCHEMA_VERSION})`);
  return version;
}

/** Two servers that make the schema at once: the other one has made it. */
function ignoreRace(error: unknown): void {
  if (!(isAnswer(error) && (error.code === '23505' || error.code === '42P06'))) throw error;
}
