// The objects that every workload uses: ConfigMaps that weigh 1.25 KB as the server sends them.
import type { Call } from './connection.ts';
import { callOnce, measureLoad } from './measure.ts';
import type { Target } from './target.ts';

/** Where the objects to read are, and where those go that a workload makes. */
export const collection = '/api/v1/namespaces/bench/configmaps';
export const scratch = '/api/v1/namespaces/bench-scratch/configmaps';

const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(18).slice(0, 771);

export const nameOf = (prefix: string, index: number): string => `${prefix}-${String(index).padStart(7, '0')}`;

/** A create. One object in a hundred has the part 0. */
export function createCall(path: string, prefix: string, index: number): Call {
  const metadata = { name: nameOf(prefix, index), labels: { bench: prefix, part: String(index % 100) } };
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { filler } });
  return { method: 'POST', path, body };
}

/** Makes the namespaces and fills the first up to `count` objects named item-*. */
export async function populate(target: Target, count: number): Promise<void> {
  for (const name of ['bench', 'bench-scratch']) {
    await callOnce(target, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name } }) });
  }
  if (count === 0) return;
  const last = await callOnce(target, { path: `${collection}/${nameOf('item', count - 1)}` });
  if (last.status === 200) return;
  const first = await findFirstMissing(target, count);
  await measureLoad(target, { workload: 'populate', clients: 32, seconds: 3600, limit: count - first, call: (index) => createCall(collection, 'item', first + index) });
}

async function findFirstMissing(target: Target, count: number): Promise<number> {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { status } = await callOnce(target, { path: `${collection}/${nameOf('item', middle)}` });
    if (status === 200) low = middle + 1;
    else high = middle;
  }
  return low;
}
