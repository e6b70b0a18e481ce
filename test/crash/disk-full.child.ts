// Writes until the disk refuses, a few times more, then says what was acknowledged and what can be read.
import { systemClock } from '../../src/base/index.ts';
import { checkEmbeddedStore, openEmbeddedStore, prefixRange } from '../../src/storage/index.ts';

const store = await openEmbeddedStore({ directory: process.argv[2] as string, clock: systemClock });
const value = Buffer.alloc(100_000, 'full');
const acknowledged: number[] = [];
let rejected = 0;
for (let index = 0; rejected < 5 && index < 1000; index += 1) {
  try {
    const result = await store.txn({ key: `/k/${String(index).padStart(4, '0')}`, expect: 0, value });
    acknowledged.push(result.revision);
  } catch {
    rejected += 1;
  }
}
const result = await store.range(prefixRange('/'));
const { problems } = await checkEmbeddedStore(store);
await store.close();
process.stdout.write(JSON.stringify({ acknowledged, rejected, readable: result.type === 'ok' ? result.count : -1, problems }));
