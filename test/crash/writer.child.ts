// The victim of the crash suite: 64 writers that create, update and delete, saying on stdout what was acknowledged, one JSON array a line:
// [revision, key, checksum of the value or null for a delete]. A failpoint named in the environment kills it there, else it is killed from outside.
import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { systemClock } from '../../src/base/index.ts';
import { type Store, isPostgresUrl, openEmbeddedStore, openPostgresStore } from '../../src/storage/index.ts';

/** A directory, or the URL of a PostgreSQL. */
const [place, cycle] = process.argv.slice(2) as [string, string];
/** name:count — dies at the count-th time the point is passed. */
const [pointName, pointCount] = (process.env.PINTLE_CRASH_FAILPOINT ?? '').split(':');
const concurrentWriters = 64;
const keysPerWriter = 4;
let passed = 0;

function failpoint(name: string): void {
  if (name !== pointName) return;
  passed += 1;
  if (passed >= Number(pointCount)) process.kill(process.pid, 'SIGKILL');
}

const clock = systemClock;
const store = await (isPostgresUrl(place) ? openPostgresStore({ endpoint: place, clock }) : openEmbeddedStore({ directory: place, clock, failpoint }));
writeSync(1, `["open",${await store.revision()}]\n`);
for (let writer = 0; writer < concurrentWriters; writer += 1) void write(store, writer);
void compactAllTheTime(store);

async function write(target: Store, writer: number): Promise<void> {
  const written = new Map<string, number>();
  for (let round = 0; ; round += 1) {
    const key = `/registry/pods/w${writer}/${round % keysPerWriter}`;
    // Reading has the tables catch up with the journal; most of the writers remember, so that there is something between them.
    const known = writer % 8 === 0 ? undefined : written.get(key);
    const expect = known ?? await readRevision(target, key);
    const isDelete = expect > 0 && round % 5 === 0;
    const value = Buffer.alloc(200 + ((writer * 37 + round * 101) % 2500), `${cycle}/${writer}/${round} `);
    const result = await target.txn({ key, expect, ...(!isDelete && { value }) });
    if (result.type !== 'committed') throw new Error('no other writer has this key');
    written.set(key, isDelete ? 0 : result.revision);
    // Synchronous, so that a kill cannot lose an acknowledgement that the parent should have seen.
    writeSync(1, `[${result.revision},"${key}",${isDelete ? null : crc32(value)}]\n`);
  }
}

async function readRevision(target: Store, key: string): Promise<number> {
  const found = await target.range({ start: key, end: `${key}\0` });
  return found.type === 'ok' ? (found.kvs[0]?.modRevision ?? 0) : 0;
}

async function compactAllTheTime(target: Store): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await target.compact(Math.max(1, (await target.revision()) - 400));
  }
}
