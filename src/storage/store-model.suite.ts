// Random commands against a naive model of a Store: a list of all changes, searched from the start for every question.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Store } from './store.ts';
import { Recorder, all, bytes, ok, settle, text } from './suite-tools.suite.ts';

interface WriteCommand {
  readonly do: 'put' | 'delete';
  readonly key: number;
  readonly stale: boolean;
}

type Command =
  | WriteCommand
  | { readonly do: 'compact' | 'watch'; readonly back: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), key: fc.nat(5), stale: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key: fc.nat(5), stale: fc.constant(false) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('watch' as const), back: fc.nat(12) }) },
);
const modelKeys = ['/a', '/a/b', '/a/b\u0000', '/ab', '/é', '/\u{1f600}'];

/** Every change ever made; all questions are answered by going through it from the start. */
class NaiveModel {
  readonly changes: { readonly key: string; readonly value: string | undefined; readonly revision: number }[] = [];
  revision = 1;
  compactRevision = 0;

  state(revision: number): string[] {
    const keys = new Map<string, string>();
    for (const change of this.changes.filter((candidate) => candidate.revision <= revision)) {
      if (change.value === undefined) keys.delete(change.key);
      else keys.set(change.key, `${change.value}@${change.revision}`);
    }
    const sorted = [...keys].sort(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
    return sorted.map(([key, value]) => `${key}=${value}`);
  }

  head(key: string): number {
    const last = this.changes.filter((change) => change.key === key).at(-1);
    return last?.value === undefined ? 0 : last.revision;
  }
}

/** The property that any sequence of commands is answered as the model answers it. */
export function describeModel(start: () => Promise<Store>, numRuns: number): void {
  test('any sequence of commands answers as a naive model does', async () => {
    await fc.assert(fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const store = await start();
      const model = new NaiveModel();
      const watches: { watch: Recorder; from: number; compactedAtStart: boolean }[] = [];
      for (const next of commands) await runCommand({ store, model, watches }, next);
      await compareWithModel(store, model);
      await settle();
      for (const { watch, from, compactedAtStart } of watches) {
        assert.equal(watch.end?.type, compactedAtStart ? 'compacted' : undefined);
        const expected = compactedAtStart ? [] : model.changes.filter((change) => change.revision >= from);
        assert.deepEqual(watch.received.map((event) => [event.kv.key, event.kv.modRevision]), expected.map((change) => [change.key, change.revision]));
      }
      await store.close();
    }), { numRuns });
  });
}

interface ModelRun {
  readonly store: Store;
  readonly model: NaiveModel;
  readonly watches: { watch: Recorder; from: number; compactedAtStart: boolean }[];
}

async function runCommand({ store, model, watches }: ModelRun, next: Command): Promise<void> {
  if (next.do === 'compact') {
    await settle();
    const revision = Math.max(1, model.revision - next.back);
    model.compactRevision = Math.max(model.compactRevision, revision);
    assert.deepEqual(await store.compact(revision), { compactRevision: model.compactRevision });
  } else if (next.do === 'watch') {
    const from = Math.max(1, model.revision + 2 - next.back);
    const watch = new Recorder();
    watches.push({ watch, from, compactedAtStart: from <= model.compactRevision });
    store.watch(all, from, watch);
  } else await runWrite({ store, model }, next as WriteCommand);
}

async function runWrite({ store, model }: Pick<ModelRun, 'store' | 'model'>, next: WriteCommand): Promise<void> {
  const key = modelKeys[next.key] as string;
  const head = model.head(key);
  const expect = next.stale ? head + 1 : head;
  if (next.do === 'delete' && expect === 0) return;
  const value = next.do === 'put' ? `v${model.revision}` : undefined;
  const result = await store.txn({ key, expect, ...(value !== undefined && { value: bytes(value) }) });
  assert.equal(result.type, next.stale ? 'conflict' : 'committed');
  if (result.type === 'conflict') assert.equal(result.current?.modRevision ?? 0, head);
  else model.changes.push({ key, value, revision: (model.revision = result.revision) });
}

async function compareWithModel(store: Store, model: NaiveModel): Promise<void> {
  for (let revision = 1; revision <= model.revision; revision += 1) {
    const result = await store.range({ ...all, revision });
    if (revision < model.compactRevision) assert.equal(result.type, 'compacted');
    else assert.deepEqual(ok(result).kvs.map((kv) => `${kv.key}=${text(kv.value)}@${kv.modRevision}`), model.state(revision));
  }
}
