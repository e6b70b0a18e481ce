// The way back to an earlier state in the form of ordinary writes, which watches see as changes.
import type { MemoryStore } from '../../storage/index.ts';
import type { ObservedStore } from './observed-store.ts';

/** Deletes what is new, puts back what was changed or deleted. Revisions go on. */
export async function restoreState(current: ObservedStore, wanted: MemoryStore): Promise<void> {
  const before = new Map([...current.memory.entries()].map((kv) => [kv.key, kv]));
  for (const { key, value } of wanted.entries()) {
    const now = before.get(key);
    before.delete(key);
    if (now?.value !== value) await current.txn({ key, expect: now?.modRevision ?? 0, value });
  }
  for (const { key, modRevision } of before.values()) await current.txn({ key, expect: modRevision });
}
