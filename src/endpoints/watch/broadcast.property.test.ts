// Many streams over one registry, joining late, falling behind, reading again, leaving, against a log of the writes: each is sent exactly
// the changes that its selector matches, in order; a bookmark is never ahead of the events sent; a stream that is behind is sent one write at most.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createManualClock } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { createTestApi, type TestApi, TestSink } from '../testing.ts';

const collection = '/api/v1/namespaces/ns/configmaps';
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

interface Change {
  readonly revision: number;
  readonly name: string;
  /** Value of the label `c`; undefined for a deletion. */
  readonly color: string | undefined;
  readonly before: string | undefined;
}

const selections: readonly { readonly query: string; readonly selects: (name: string, color: string) => boolean }[] = [
  { query: '', selects: () => true },
  { query: '&fieldSelector=metadata.name%3Da', selects: (name) => name === 'a' },
  { query: '&labelSelector=c%3Dred', selects: (_name, color) => color === 'red' },
];

class Reader extends TestSink {
  readonly after: number;
  readonly selects: (name: string, color: string) => boolean;
  gone = false;
  #refused = false;

  readonly #world: World;

  constructor(world: World, after: number, selects: Reader['selects']) {
    super();
    this.#world = world;
    this.after = after;
    this.selects = selects;
  }

  override write(chunk: Uint8Array): boolean {
    assert.ok(!this.#refused, 'written to while the receiver is behind');
    this.#refused = this.behind;
    this.#world.spentMs += 3;
    return super.write(chunk);
  }
  override catchUp(): void {
    this.#refused = false;
    super.catchUp();
  }
}

class World {
  /** Time that writes took: two in one turn are a round after which the throttle pauses. */
  spentMs = 0;
  readonly clock = createManualClock();
  readonly api: TestApi = createTestApi({ clock: { ...this.clock, monotonicMs: () => this.clock.monotonicMs() + this.spentMs } });
  readonly log: Change[] = [];
  readonly colors = new Map<string, string>();
  readonly readers: Reader[] = [];

  async write(name: string, color: string | undefined): Promise<void> {
    const before = this.colors.get(name);
    if (color === undefined && before === undefined) return;
    const headers = { 'content-type': 'application/json' };
    const body = color === undefined ? {} : { metadata: { name, labels: { c: color }, annotations: { n: String(this.log.length) } } };
    const [method, path] = color === undefined ? ['DELETE', `${collection}/${name}`] : before === undefined ? ['POST', collection]
      : ['PUT', `${collection}/${name}`];
    const { status } = await this.api.send({ method, path, body, headers });
    assert.ok(status < 300);
    const revision = Number((await this.api.send({ path: `${collection}?limit=1` })).json.metadata.resourceVersion);
    this.log.push({ revision, name, color, before });
    if (color === undefined) this.colors.delete(name);
    else this.colors.set(name, color);
  }

  async open(kind: number, back: number): Promise<void> {
    const { query, selects } = selections[kind % 3] as (typeof selections)[number];
    const after = this.log.at(-1 - back)?.revision ?? 1;
    const accept = [undefined, partial, table][Math.floor(kind / 3) % 3];
    const path = `${collection}?watch=1&allowWatchBookmarks=true&resourceVersion=${after}${query}`;
    const { response } = await this.api.send({ path, headers: accept === undefined ? {} : { accept } });
    const reader = new Reader(this, after, selects);
    assert.ok(typeof response.body === 'function');
    void response.body(reader);
    this.readers.push(reader);
  }

  async act({ op, a, b }: { readonly op: string; readonly a: number; readonly b: number }): Promise<void> {
    const reader = this.readers[a % Math.max(1, this.readers.length)];
    if (op === 'write') await this.write('abc'[a % 3] as string, ['red', 'blue', undefined][b % 3]);
    else if (op === 'open') await this.open(a % 9, b % 4);
    else if (op === 'settle') await settle();
    else if (op === 'time') this.clock.advance(b * 1000);
    else if (op === 'behind' && reader !== undefined) reader.behind = true;
    else if (op === 'read') reader?.catchUp();
    else if (op === 'leave' && reader !== undefined) {
      reader.gone = true;
      reader.controller.abort();
    }
  }

  expected({ after, selects }: Reader): string[] {
    return this.log.filter(({ revision }) => revision > after).flatMap(({ revision, name, color, before }) => {
      const [matched, matches] = [before !== undefined && selects(name, before), color !== undefined && selects(name, color)];
      return matched || matches ? [`${matches ? matched ? 'MODIFIED' : 'ADDED' : 'DELETED'} ${name} ${revision}`] : [];
    });
  }
}

function describe({ type, object }: any): { readonly type: string; readonly revision: number; readonly text: string } {
  const { name, resourceVersion } = object.kind === 'Table' && type !== 'BOOKMARK' ? object.rows[0].object.metadata : object.metadata;
  const revision = Number(object.kind === 'Table' ? object.metadata.resourceVersion : resourceVersion);
  return { type, revision, text: `${type} ${name} ${revision}` };
}

function check(world: World, reader: Reader, complete: boolean): void {
  const lines = reader.lines.map(describe);
  for (let i = 1; i < lines.length; i++) {
    const [before, line] = [lines[i - 1] as (typeof lines)[number], lines[i] as (typeof lines)[number]];
    assert.ok(line.type === 'BOOKMARK' ? line.revision >= before.revision : line.revision > before.revision, `${before.text}, then ${line.text}`);
  }
  const seen = lines.filter(({ type }) => type !== 'BOOKMARK').map(({ text }) => text);
  const expected = world.expected(reader);
  assert.deepEqual(seen, complete ? expected : expected.slice(0, seen.length));
}

const opArb = fc.record({
  op: fc.constantFrom(...'write write write write open open behind read read settle time leave'.split(' ')), a: fc.nat(1000), b: fc.nat(40),
});

test('handleWatch sends every stream the events that its selector matches, whichever streams it shares a broadcast with', async () => {
  await fc.assert(fc.asyncProperty(fc.array(opArb, { maxLength: 80, size: 'max' }), async (steps) => {
    const world = new World();
    await world.write('a', 'red');
    for (const step of steps) await world.act(step);
    for (const reader of world.readers) reader.catchUp();
    // How many turns that takes depends on what else the machine does.
    await eventually(async () => {
      world.clock.advance(100);
      await settle();
      for (const reader of world.readers) check(world, reader, !reader.gone);
    });
    world.api.close();
  }), { numRuns: 60 });
});
