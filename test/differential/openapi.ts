// Prints where the OpenAPI documents of this server differ from those of a kube-apiserver in more than prose: `node dist/test/differential/openapi.js
// [--record]`. PINTLE_KUBE_APISERVER names the peer, PINTLE_ETCD its etcd. --record keeps the digests of the peer's documents for the tests.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { differencesOf, digestsOf, readDocuments } from './openapi-shape.ts';
import { startBoth } from './servers.ts';

const peer = process.env['PINTLE_KUBE_APISERVER'];
if (peer === undefined) throw new Error('PINTLE_KUBE_APISERVER must name a kube-apiserver');
const MAX_SHOWN = 200;

function shorten(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, MAX_SHOWN);
}

const { ours, theirs, stop } = await startBoth(peer);
try {
  const [here, there] = [await readDocuments(ours.client), await readDocuments(theirs.client)];
  const differences = differencesOf(here, there);
  for (const { path, ours: one, theirs: other } of differences) process.stdout.write(`${path}\n  ours   ${shorten(one)}\n  theirs ${shorten(other)}\n`);
  process.stdout.write(`${there.size} documents, ${differences.length} paths differ\n`);
  const file = fileURLToPath(new URL('../../../test/data/openapi-digests.json', import.meta.url));
  if (process.argv.includes('--record')) writeFileSync(file, `${JSON.stringify(digestsOf(there), null, 2)}\n`);
  process.exitCode = differences.length > 0 ? 1 : 0;
} finally {
  await stop();
}
