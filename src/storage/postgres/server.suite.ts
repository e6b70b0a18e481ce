// A real PostgreSQL for tests: one instance on loopback, in a directory that is removed at the end. Its programs are looked for on PATH and where
// Debian has them; PINTLE_POSTGRES names their directory otherwise. It refuses to run as root; the tests of root run it as another user.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPorts } from '../../test-support/index.ts';

const debian = '/usr/lib/postgresql';
const MEMORY = '/dev/shm';
const SHOWN_LINES = 30;
const START_TRIES = 300;
/** Two instances with their journals need less. */
const SPACE_BYTES = 2 ** 30;
const user = findUser();

/** The directory of its programs, if there is one. */
const programs = [process.env.PINTLE_POSTGRES, ...(process.env.PATH ?? '').split(':'), ...listVersions()].find((directory) =>
  directory !== undefined && directory !== '' && ['initdb', 'postgres', 'pg_isready', 'pg_basebackup'].every((name) => existsSync(join(directory, name))));

/** The reason for which tests on PostgreSQL cannot run, or false. */
export const noPostgres: string | false = programs !== undefined ? false : `PostgreSQL is neither on PATH, nor in ${debian}, nor named by PINTLE_POSTGRES`;

/** An instance that can be killed, paused and started again on its data. */
export interface PostgresServer {
  readonly port: number;
  /** Of the running process. */
  readonly pid: number;
  readonly directory: string;
  /** The URL of a schema; each is a store of its own. */
  url(schema: string): string;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** The last lines of its log. */
  readLog(): string;
  /** Ends it by a signal; resolves when it is gone. SIGINT ends connections, SIGKILL is a crash. */
  end(name: NodeJS.Signals): Promise<void>;
  /** Kills it and removes everything. */
  stop(): Promise<void>;
}

interface ServerOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
  /** Files of the data directory, by name: keys and certificates. */
  readonly files?: Readonly<Record<string, string>>;
  /** A running server of which this one is a streaming replica. */
  readonly replicaOf?: PostgresServer;
}

/** Starts a new, empty instance, or a replica. */
export async function startPostgres({ settings = [], files = {}, replicaOf }: ServerOptions = {}): Promise<PostgresServer> {
  const root = mkdtempSync(join(findSpace(), 'pintle-postgres-'));
  if (user !== undefined) chownSync(root, user.uid, user.gid);
  const [port] = await findPorts(1) as [number];
  const data = join(root, 'data');
  if (replicaOf === undefined) run('initdb', ['-D', data, '-U', 'pintle', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], root);
  else run('pg_basebackup', ['-D', data, '-h', '127.0.0.1', '-p', String(replicaOf.port), '-U', 'pintle', '-R', '-c', 'fast', '--no-sync'], root);
  appendFileSync(join(data, 'postgresql.conf'), `\n${[
    `port = ${port}`, "listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", 'max_connections = 60', 'shared_buffers = 64MB', 'fsync = off',
    "timezone = 'UTC'", 'max_wal_size = 256MB', ...settings,
  ].join('\n')}\n`);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    if (user !== undefined) chownSync(join(data, name), user.uid, user.gid);
  }
  const server = createServer(root, port);
  await server.start();
  return server;
}

/** Memory where there is enough for instances, otherwise a disk. */
function findSpace(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= SPACE_BYTES ? MEMORY : tmpdir();
}

function createServer(root: string, port: number): PostgresServer {
  let child: ChildProcess | undefined;
  const logFile = join(root, 'log');
  const log = openSync(logFile, 'a');
  const server: PostgresServer = {
    port, directory: join(root, 'data'),
    get pid() {
      return child?.pid ?? 0;
    },
    url: (schema) => `postgres://pintle@127.0.0.1:${port}/postgres?schema=${schema}`,
    async start() {
      const begin = () => spawn(join(programs as string, 'postgres'), ['-D', join(root, 'data')], { ...user, cwd: root, stdio: ['ignore', 'ignore', log] });
      child = begin();
      for (let tries = 0; !isReady(port); tries += 1) {
        if (tries > START_TRIES) {
          child.kill('SIGQUIT');
          throw new Error('PostgreSQL did not start');
        }
        await new Promise((resolve) => setTimeout(resolve, 30));
        // After a crash it ends at once while processes of before still hold its memory.
        if (child.exitCode !== null) child = begin();
      }
    },
    signal: (name) => void child?.kill(name),
    readLog: () => readFileSync(logFile, 'utf8').split('\n').slice(-SHOWN_LINES).join('\n'),
    async end(name) {
      const dying = child;
      if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return;
      const gone = new Promise((resolve) => dying.once('exit', resolve));
      dying.kill(name);
      await gone;
    },
    async stop() {
      child?.kill('SIGCONT');
      await server.end('SIGQUIT');
      closeSync(log);
      rmSync(root, { recursive: true, force: true });
    },
  };
  return server;
}

function isReady(port: number): boolean {
  return spawnSync(join(programs as string, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)]).status === 0;
}

/** Runs one of its programs as the user that it wants; throws with what it said when it fails. */
function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(join(programs as string, program), args, { ...user, cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}

function listVersions(): string[] {
  return existsSync(debian) ? readdirSync(debian).sort((left, right) => Number(right) - Number(left)).map((version) => join(debian, version, 'bin')) : [];
}

/** The user that a process of root becomes. */
function findUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  }
  return undefined;
}
