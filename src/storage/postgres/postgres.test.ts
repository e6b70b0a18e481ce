// The PostgreSQL Store against the suite of all Stores, each test in a schema of its own; and what only PostgreSQL can show.
import { after, before, test } from 'node:test';
import type { Clock } from '../../base/index.ts';
import type { Store } from '../store.ts';
import { describeStore } from '../store.suite.ts';
import { openPostgresStore } from './open.ts';
import { type PostgresServer, noPostgres, startPostgres } from './server.suite.ts';

let server: PostgresServer | undefined;
let schemas = 0;

before(async () => {
  if (noPostgres === false) server = await startPostgres();
});

after(() => server?.stop());

const url = (): string => (server as PostgresServer).url(`test_${schemas}`);

function open(clock: Clock): Promise<Store> {
  schemas += 1;
  return openPostgresStore({ endpoint: url(), clock });
}

const reopen = (clock: Clock): Promise<Store> => openPostgresStore({ endpoint: url(), clock });

if (noPostgres !== false) test('openPostgresStore', { skip: noPostgres });
else describeStore('openPostgresStore', open, { reopen, leasesInRealTime: true, lateDelivery: true, modelRuns: 15 });
