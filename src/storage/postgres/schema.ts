// The tables, made and brought up to date under a lock, in a schema of their own. Nothing but PostgreSQL's own language and types is used.
//
//   log    every kept version of every key, one row a revision; rows are only added, and removed by compaction
//   head   the newest version of every key that exists or whose tombstone is kept
//   meta   one row: which store this is, and how far compaction has come
//
//   put a · put b · put a · delete b · compact(4)     log: 2:a 3:b 4:a 5:✝b  →  4:a 3:b 5:✝b        head: a→4, b→5✝
//
// The newest revision is that of the newest row of the log, or the compact revision where compaction removed that row.
import type { Statement } from './session.ts';

/** The version of the tables that this program makes and uses. */
export const SCHEMA_VERSION = 1;

/** The steps by which tables of one version become those of the next. The first makes them. */
export function listMigrations(schema: string): readonly string[] {
  return [`${createTables(schema)}${createWrite(schema)}`];
}

/** Locks of the database are numbered: two numbers, of which the second is the schema, so that stores in one database do not meet. */
export const lockOf = (schema: string, number: number): string => `pg_advisory_xact_lock(${LOCKS + number}, '${schema}'::regnamespace::oid::int)`;

const LOCKS = 0x70_69_6e_00;
const WRITE_LOCK = 1;

/** Vacuumed early and often: few pages then, instead of many later. */
const OFTEN = 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1';

const createTables = (schema: string): string => `
CREATE TABLE ${schema}.meta (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version int NOT NULL,
  store uuid NOT NULL,
  compact_revision bigint NOT NULL,
  swept_revision bigint NOT NULL,
  compaction_interval bigint NOT NULL
);
INSERT INTO ${schema}.meta VALUES (true, 0, gen_random_uuid(), 0, 0, 0);
CREATE TABLE ${schema}.log (
  revision bigint PRIMARY KEY,
  previous bigint NOT NULL,
  created bigint NOT NULL,
  batch bigint NOT NULL,
  key bytea NOT NULL,
  value bytea
) WITH (${OFTEN}, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX log_key ON ${schema}.log (key, revision);
CREATE TABLE ${schema}.head (
  key bytea PRIMARY KEY,
  revision bigint NOT NULL,
  created bigint NOT NULL,
  is_live boolean NOT NULL,
  expires_at timestamptz
) WITH (${OFTEN}, fillfactor = 80);
CREATE INDEX head_expiry ON ${schema}.head (expires_at) WHERE expires_at IS NOT NULL;
`;

/** The newest revision, for a statement that reads meta as \`m\`. */
const newest = (schema: string): string => `greatest(1, m.compact_revision, (SELECT max(l.revision) FROM ${schema}.log l))`;

/**
 * One batch of writes of different keys. All writers of all servers take one lock first, and the next statement sees what the one before them
 * committed: each write is decided on the newest state, and revisions are dense and in the order of commits. Answers a row for each write: its
 * revision (null: refused), the revision of the put that created the key, and the revision that was there (0: none).
 */
const createWrite = (schema: string): string => `
CREATE FUNCTION ${schema}.write(keys bytea[], vals bytea[], expects bigint[], ttls float8[], token bigint, sender text)
RETURNS TABLE (revision bigint, created bigint, found bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE base bigint; written bigint;
BEGIN
  PERFORM ${lockOf(schema, WRITE_LOCK)};
  SELECT ${newest(schema)} INTO base FROM ${schema}.meta m;
  RETURN QUERY
  WITH input AS (
    SELECT i.n, i.key, i.value, i.expect, i.ttl, CASE WHEN h.is_live THEN h.revision ELSE 0 END AS found, CASE WHEN h.is_live THEN h.created END AS created
    FROM unnest(keys, vals, expects, ttls) WITH ORDINALITY AS i(key, value, expect, ttl, n) LEFT JOIN ${schema}.head h ON h.key = i.key
  ), accepted AS (
    SELECT n, base + row_number() OVER (ORDER BY n) AS revision, key, value, expect, ttl, created FROM input WHERE coalesce(found, 0) = expect
  ), logged AS (
    INSERT INTO ${schema}.log (revision, previous, created, batch, key, value)
    SELECT revision, expect, coalesce(created, revision), token, key, value FROM accepted
  ), headed AS (
    INSERT INTO ${schema}.head (key, revision, created, is_live, expires_at)
    SELECT key, revision, coalesce(created, revision), value IS NOT NULL, now() + ttl * interval '1 second' FROM accepted
    ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, created = excluded.created, is_live = excluded.is_live, expires_at = excluded.expires_at
  )
  SELECT a.revision, coalesce(a.created, a.revision), coalesce(i.found, 0) FROM input i LEFT JOIN accepted a ON a.n = i.n ORDER BY i.n;
  SELECT max(l.revision) INTO written FROM ${schema}.log l;
  IF written > base THEN PERFORM pg_notify('${schema}', sender || ' ' || written); END IF;
END $$;
`;

/** The statements of one store; they are prepared once on each connection. */
export type Statements = ReturnType<typeof createStatements>;

/** All statements over the tables in `schema`. */
export function createStatements(schema: string) {
  const statement = (name: string, text: string): Statement => ({ name, text });
  const m = `${schema}.meta m`;
  return {
    /** Which store this is, its revisions, and the batch of the revision $1. */
    witness: statement('witness', `SELECT m.store::text, ${newest(schema)}, m.compact_revision,
      (SELECT l.batch::text FROM ${schema}.log l WHERE l.revision = $1) FROM ${m}`),
    write: statement('write', `SELECT revision, created, found FROM ${schema}.write($1, $2, $3, $4, $5, $6)`),
    /** What the batch $2 wrote after the revision $1. */
    findBatch: statement('findBatch', `SELECT m.compact_revision, l.key, l.revision, l.created FROM ${m}
      LEFT JOIN ${schema}.log l ON l.revision > $1 AND l.batch = $2 ORDER BY l.revision`),
    /**
     * Keys from $1 to $2 as of the revision $3 (null: the newest), at most $4 of them and about $5 bytes; and how many there are, counted up to one
     * more than $4.
     */
    page: statement('page', `SELECT m.revision, m.compact_revision, r.key, r.value, r.created, r.revision, r.found
      FROM (SELECT ${newest(schema)} AS revision, m.compact_revision FROM ${m}) m LEFT JOIN LATERAL (
        SELECT k.*, sum(octet_length(k.value)) OVER (ORDER BY k.key) - octet_length(k.value) AS before,
          row_number() OVER (ORDER BY k.key) AS n, count(*) OVER () AS found
        FROM (
          SELECT h.key, l.value, l.created, l.revision FROM ${schema}.head h CROSS JOIN LATERAL (
            SELECT v.value, v.created, v.revision FROM ${schema}.log v
            WHERE v.key = h.key AND v.revision <= coalesce($3::bigint, m.revision) ORDER BY v.revision DESC LIMIT 1
          ) l WHERE h.key >= $1 AND h.key < $2 AND l.value IS NOT NULL ORDER BY h.key LIMIT $4::bigint + 1
        ) k
      ) r ON m.compact_revision <= coalesce($3::bigint, m.revision) AND r.n <= $4 AND r.before < $5`),
    /** How many keys there are from $1 to $2 as of the revision $3 (null: the newest). Only keys that changed since are looked up. */
    count: statement('count', `SELECT m.revision, m.compact_revision, (
        SELECT count(*) FROM ${schema}.head h WHERE h.key >= $1 AND h.key < $2 AND CASE WHEN h.revision <= coalesce($3::bigint, m.revision) THEN h.is_live
          ELSE (SELECT v.value IS NOT NULL FROM ${schema}.log v WHERE v.key = h.key AND v.revision <= $3 ORDER BY v.revision DESC LIMIT 1) END
      ) FROM (SELECT ${newest(schema)} AS revision, m.compact_revision FROM ${m}) m`),
    /** Changes after the revision $1, at most $2 of them and about $3 bytes, each with what it replaced; and the batch of $1. */
    changes: statement('changes', `SELECT m.store::text, m.revision, m.compact_revision, m.batch::text,
        c.revision, c.previous, c.created, c.batch::text, c.key, c.value, p.value, p.created
      FROM (SELECT m.store, ${newest(schema)} AS revision, m.compact_revision,
        (SELECT l.batch FROM ${schema}.log l WHERE l.revision = $1) AS batch FROM ${m}) m
      LEFT JOIN LATERAL (
        SELECT l.*, sum(octet_length(l.key) + coalesce(octet_length(l.value), 0)) OVER (ORDER BY l.revision) - coalesce(octet_length(l.value), 0) AS before
        FROM (SELECT * FROM ${schema}.log l WHERE l.revision > $1 ORDER BY l.revision LIMIT $2) l
      ) c ON c.before < $3 AND m.compact_revision <= $1 LEFT JOIN ${schema}.log p ON p.revision = c.previous ORDER BY c.revision`),
    /** Keys whose time is over. */
    expired: statement('expired', `SELECT h.key, h.revision FROM ${schema}.head h WHERE h.expires_at <= now() ORDER BY h.expires_at LIMIT $1`),
    timesToLive: statement('timesToLive', `SELECT h.revision, extract(epoch FROM h.expires_at - now())::float8 FROM ${schema}.head h
      WHERE h.expires_at IS NOT NULL AND h.is_live`),
    /** Counts an interval of compaction more, if the count is still $1. */
    countInterval: statement('countInterval', `WITH won AS (UPDATE ${schema}.meta SET compaction_interval = $1 + 1 WHERE compaction_interval = $1 RETURNING 1)
      SELECT (SELECT count(*) FROM won), m.compaction_interval, ${newest(schema)} FROM ${m}`),
    /** Raises the compact revision to $1, which must not be in the future. */
    compact: statement('compact', `UPDATE ${schema}.meta m SET compact_revision = $1 WHERE m.compact_revision < $1 AND $1 <= ${newest(schema)}`),
    /** Writes a megabyte and takes it back. */
    probe: `BEGIN; INSERT INTO ${schema}.log SELECT -n, 0, 0, 0, '', convert_to(repeat(md5(n::text), 60), 'UTF8') FROM generate_series(1, 500) n; ROLLBACK`,
    sweep: statement('sweep', createSweep(schema)),
    /** Raises the revision by $1, but not beyond $2: everything before it is compacted. */
    bump: statement('bump', `UPDATE ${schema}.meta m SET compact_revision = ${newest(schema)} + $1 WHERE ${newest(schema)} + $1 <= $2 RETURNING m.compact_revision`),
    /** Puts keys of a backup: with their revisions, first revisions, values and seconds that are left. */
    restore: statement('restore', `WITH input AS (
        SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bigint[], $5::float8[]) AS i(key, value, revision, created, ttl)),
      logged AS (INSERT INTO ${schema}.log SELECT revision, 0, created, 0, key, value FROM input)
      INSERT INTO ${schema}.head SELECT key, revision, created, true, now() + ttl * interval '1 second' FROM input`),
    /** Everything up to $1 is as a backup had it, and what was before is not known. */
    finishRestore: statement('finishRestore', `UPDATE ${schema}.meta SET compact_revision = $1, swept_revision = $1`),
    isEmpty: statement('isEmpty', `SELECT NOT EXISTS (SELECT 1 FROM ${schema}.head) AND ${newest(schema)} = 1 FROM ${m}`),
    /** Ends the connection of process $1 that began at $2, and says whether it is there still. */
    terminate: statement('terminate', `SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
      WHERE a.pid = $1 AND extract(epoch FROM a.backend_start)::text = $2`),
  };
}

/**
 * Removes what at most $1 changes before the compact revision superseded: the versions that they replaced, and tombstones. A head that a writer holds
 * is being written again and stays, so that the two never wait for each other.
 */
const createSweep = (schema: string): string => `
WITH span AS (
  SELECT m.swept_revision AS after, coalesce((
    SELECT max(s.revision) FROM (
      SELECT l.revision FROM ${schema}.log l WHERE l.revision > m.swept_revision AND l.revision <= m.compact_revision ORDER BY l.revision LIMIT $1
    ) s), m.compact_revision) AS through
  FROM ${schema}.meta m FOR UPDATE
), past AS (
  SELECT l.revision, l.previous, l.key, l.value IS NULL AS is_tombstone FROM ${schema}.log l, span
  WHERE l.revision > span.after AND l.revision <= span.through
), superseded AS (
  DELETE FROM ${schema}.log l USING (SELECT previous AS revision FROM past UNION ALL SELECT revision FROM past WHERE is_tombstone) g
  WHERE l.revision = g.revision
), buried AS (
  DELETE FROM ${schema}.head h WHERE h.key IN (
    SELECT t.key FROM ${schema}.head t JOIN past ON past.key = t.key AND past.revision = t.revision AND past.is_tombstone FOR UPDATE OF t SKIP LOCKED
  )
)
UPDATE ${schema}.meta m SET swept_revision = span.through FROM span RETURNING m.swept_revision >= m.compact_revision`;
