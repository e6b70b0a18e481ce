// What clients of a store did and saw while things broke, and the guarantees that it must fulfil, each by its name. The truth is the
// store's own log, read once more from the start when all is calm again; the model is a map that replays it.
import assert from 'node:assert/strict';
import { type KeyRange, type KeyValue, type Store, type StoreEvent, type WatchObserver, prefixRange } from '../../src/storage/index.ts';
import { createBoundsTest } from '../../src/base/index.ts';
import { eventually } from '../../src/test-support/index.ts';

/** The store's own log from its beginning. */
export async function readTruth(store: Store): Promise<Log> {
  const revision = await store.revision();
  const log = new Log(prefixRange('/'), 2);
  store.watch(log.range, 2, log);
  await eventually(() => assert.ok((log.received.at(-1)?.kv.modRevision ?? 0) >= revision));
  log.received.forEach((event, index) => assert.equal(event.kv.modRevision, index + 2, 'the log has no gap'));
  return log;
}

interface WriteRecord {
  readonly key: string;
  /** Unique; undefined for a delete. */
  readonly value: string | undefined;
  /** The newest revision acknowledged to any client before the write began. */
  readonly after: number;
  /** Absent: it is unknown whether the write happened. */
  readonly revision?: number;
}

interface ReadRecord {
  /** The newest revision acknowledged to any client before the read began. */
  readonly after: number;
  readonly revision: number;
  readonly state: ReadonlyMap<string, number>;
  readonly by: string;
}

/** A watch that writes everything down. */
export class Log implements WatchObserver {
  readonly range: KeyRange;
  readonly from: number;
  readonly received: StoreEvent[] = [];
  readonly progressed: { readonly revision: number; readonly received: number }[] = [];
  end: Parameters<WatchObserver['ended']>[0] | undefined;

  constructor(range: KeyRange, from: number) {
    this.range = range;
    this.from = from;
  }

  events(batch: readonly StoreEvent[]): void {
    this.received.push(...batch);
  }

  progress(revision: number): void {
    this.progressed.push({ revision, received: this.received.length });
  }

  ended(reason: Parameters<WatchObserver['ended']>[0]): void {
    this.end = reason;
  }
}

export class RunHistory {
  readonly writes: WriteRecord[] = [];
  readonly reads: ReadRecord[] = [];
  readonly logs: Log[] = [];
  /** Answers of revision(), each with the newest revision acknowledged before. */
  readonly revisions: { readonly after: number; readonly revision: number }[] = [];
  acknowledged = 1;

  acknowledge(revision: number): void {
    this.acknowledged = Math.max(this.acknowledged, revision);
  }

  /** Holds the history against the truth: all changes from revision 2 on, without a gap. */
  check(truth: readonly StoreEvent[]): void {
    checkNoAcknowledgedWriteIsLost(this.writes, truth);
    checkNoWriteHappensTwice(this.writes, truth);
    checkNoReadIsStale(this.reads, truth);
    checkNoEventIsLostDoubledOrOutOfOrder(this.logs, truth);
    checkProgressIsTrue(this.logs, truth);
    checkRevisionsNeverGoBack(this);
  }
}

const text = (kv: KeyValue): string => Buffer.from(kv.value).toString();

function checkNoAcknowledgedWriteIsLost(writes: readonly WriteRecord[], truth: readonly StoreEvent[]): void {
  const byRevision = new Map(truth.map((event) => [event.kv.modRevision, event]));
  for (const { key, value, revision } of writes) {
    if (revision === undefined) continue;
    const event = byRevision.get(revision);
    assert.ok(event?.kv.key === key, `no acknowledged write lost: ${key} at ${revision}`);
    assert.equal(event.type === 'put' ? text(event.kv) : undefined, value, `no acknowledged write lost: value of ${key} at ${revision}`);
  }
}

function checkNoWriteHappensTwice(writes: readonly WriteRecord[], truth: readonly StoreEvent[]): void {
  const put = truth.filter(({ type }) => type === 'put').map(({ kv }) => text(kv));
  assert.equal(new Set(put).size, put.length, 'no write happens twice');
  const wanted = new Set(writes.map(({ value }) => value));
  for (const value of put) assert.ok(wanted.has(value), `no write out of nothing: ${value}`);
}

function checkNoReadIsStale(reads: readonly ReadRecord[], truth: readonly StoreEvent[]): void {
  const ordered = [...reads].sort((left, right) => left.revision - right.revision);
  const state = new Map<string, number>();
  let at = 0;
  for (const read of ordered) {
    for (; at < truth.length && (truth[at] as StoreEvent).kv.modRevision <= read.revision; at += 1) {
      const { type, kv } = truth[at] as StoreEvent;
      if (type === 'put') state.set(kv.key, kv.modRevision);
      else state.delete(kv.key);
    }
    assert.ok(read.revision >= read.after, `no stale consistent read: ${read.by} answered ${read.revision} after ${read.after} was acknowledged`);
    const [seen, expected] = [read.state, state].map((one) => Object.fromEntries([...one].sort()));
    assert.deepEqual(seen, expected, `every read is a state that was: ${read.by} at ${read.revision}`);
  }
}

function checkNoEventIsLostDoubledOrOutOfOrder(logs: readonly Log[], truth: readonly StoreEvent[]): void {
  for (const log of logs) {
    const holds = createBoundsTest(log.range);
    const expected = truth.filter(({ kv }) => kv.modRevision >= log.from && holds(kv.key));
    const seen = log.received.map(describe);
    const due = expected.map(describe).slice(0, log.end === undefined ? undefined : seen.length);
    assert.deepEqual(seen, due, `no event lost, doubled or out of order: from ${log.from}`);
  }
}

const describe = ({ type, kv, previous }: StoreEvent): string => `${type} ${kv.key} ${kv.modRevision} ${text(kv)} was ${previous?.modRevision ?? 0}`;

function checkProgressIsTrue(logs: readonly Log[], truth: readonly StoreEvent[]): void {
  for (const { range, from, progressed } of logs) {
    const holds = createBoundsTest(range);
    const expected = truth.filter(({ kv }) => kv.modRevision >= from && holds(kv.key)).map(({ kv }) => kv.modRevision);
    for (const { revision, received } of progressed) {
      const due = expected.filter((one) => one <= revision).length;
      assert.ok(received >= due, `progress is true: ${revision} was reported after ${received} of ${due} events`);
    }
  }
}

function checkRevisionsNeverGoBack({ writes, revisions }: RunHistory): void {
  for (const { after, revision } of writes) assert.ok(revision === undefined || revision > after, `revisions never go back: ${revision} after ${after}`);
  for (const { after, revision } of revisions) assert.ok(revision >= after, `revisions never go back: ${revision} after ${after}`);
}
