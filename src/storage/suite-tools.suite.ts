// What the suite of all Stores and the tests of single ones share: time moved by hand, a watch that records its calls.
import assert from 'node:assert/strict';
import type { ManualClock } from '../base/index.ts';
import type { KeyRange, KeyValue, RangeResult, Store, StoreEvent, TxnRequest, TxnResult, WatchObserver } from './store.ts';

/** Moves `clock` on by `ms` in steps, with room for asynchronous work after each. */
export async function advance(clock: ManualClock, ms: number): Promise<void> {
  for (let step = 0; step < STEPS_PER_ADVANCE; step += 1) {
    clock.advance(ms / STEPS_PER_ADVANCE);
    await settle();
  }
}

const STEPS_PER_ADVANCE = 5;

/** Collects what a watch delivers. */
export class Recorder implements WatchObserver {
  readonly received: StoreEvent[] = [];
  readonly progressed: number[] = [];
  end: Parameters<WatchObserver['ended']>[0] | undefined;

  events(batch: readonly StoreEvent[], revision: number): void {
    assert.equal(this.end, undefined, 'nothing comes after the end');
    assert.equal(batch.at(-1)?.kv.modRevision, revision);
    for (const event of batch) {
      const last = this.received.at(-1)?.kv.modRevision ?? 0;
      assert.ok(event.kv.modRevision > last, 'each revision once, in order');
      this.received.push(event);
    }
  }

  progress(revision: number): void {
    assert.ok(revision >= (this.received.at(-1)?.kv.modRevision ?? 0), 'progress is never behind the delivered changes');
    this.progressed.push(revision);
  }

  ended(reason: Parameters<WatchObserver['ended']>[0]): void {
    assert.equal(this.end, undefined, 'ends once');
    this.end = reason;
  }

  get summary(): string[] {
    return this.received.map(({ type, kv, previous }) => {
      const before = previous ? ` was ${text(previous.value)}@${previous.modRevision}` : '';
      return `${type} ${kv.key}@${kv.modRevision}=${text(kv.value)}${before}`;
    });
  }
}

/** The same Store, except that writers are answered after its watches. */
export async function answerWritersLast(store: Store): Promise<Store> {
  const waiting = new Map<number, () => void>();
  let delivered = await store.revision();
  const advance = (revision: number): void => {
    delivered = Math.max(delivered, revision);
    for (const [wanted, resolve] of waiting) {
      if (wanted <= delivered && waiting.delete(wanted)) resolve();
    }
  };
  const ended = (): void => advance(Infinity);
  store.watch(all, delivered + 1, { events: (_batch, revision) => advance(revision), progress: () => undefined, ended });
  const txn = async (request: TxnRequest): Promise<TxnResult> => {
    const result = await store.txn(request);
    const { type, revision } = result;
    if (type === 'committed' && revision > delivered) await new Promise<void>((resolve) => waiting.set(revision, resolve));
    return result;
  };
  return {
    txn,
    range: (request) => store.range(request), watch: (range, from, observer) => store.watch(range, from, observer),
    compact: (revision) => store.compact(revision), timesToLive: () => store.timesToLive(), revision: () => store.revision(), close: () => store.close(),
  };
}

/** Lets commits, microtasks and immediates that are under way finish. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A value as bytes. */
export const bytes = (value: string): Uint8Array => Buffer.from(value);
/** Bytes as a string. */
export const text = (value: Uint8Array): string => Buffer.from(value).toString();
/** Every key that the suite uses. */
export const all: KeyRange = { start: '\u0001', end: '\u{10ffff}' };

/** A put that must commit; answers its revision. */
export async function put(store: Store, options: { key: string; expect?: number; value?: string; ttlSeconds?: number }): Promise<number> {
  const { key, expect = 0, value = 'v', ttlSeconds } = options;
  return committed(await store.txn({ key, expect, value: bytes(value), ...(ttlSeconds !== undefined && { ttlSeconds }) }));
}

/** A delete that must commit; answers its revision. */
export async function remove(store: Store, key: string, expect: number): Promise<number> {
  return committed(await store.txn({ key, expect }));
}

function committed(result: TxnResult): number {
  assert.equal(result.type, 'committed');
  return result.revision;
}

/** A range that must succeed. */
export function ok(result: RangeResult): Extract<RangeResult, { type: 'ok' }> {
  assert.equal(result.type, 'ok');
  return result as Extract<RangeResult, { type: 'ok' }>;
}

/** The keys of what a range answered. */
export const keysOf = (kvs: readonly KeyValue[]): string[] => kvs.map((kv) => kv.key);
