// The backends without a server: buffers and their bounds, truncation, blocking modes, formats, rotation.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { AuditStage } from '../../auth/index.ts';
import { createManualClock, systemRandom } from '../../base/index.ts';
import { parseRequestInfo } from '../../endpoints/index.ts';
import { eventually } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { createAuditMetrics } from './audit-metrics.ts';
import { type AuditBackend, ignoreFailures, truncateEvents, uniteBackends } from './backend.ts';
import { type BatchOptions, bufferEvents } from './buffered.ts';
import { AuditEvent, formatLegacy } from './event.ts';
import { Caller, writeAnnotations } from './event-text.ts';
import { describeLatency } from './latency.ts';
import { createLogBackend } from './log-backend.ts';
import { openLogFile } from './log-file.ts';
import { createWebhookBackend } from './webhook-backend.ts';

const SHORT_URI = '/api/v1/pods?watch=1';

const makeEvent = (auditId: string, requestObject?: string, stage: AuditStage = 'ResponseComplete', requestUri = SHORT_URI): AuditEvent => AuditEvent.of({
  request: {
    auditId, requestUri, receivedMs: Date.UTC(2030, 0, 2, 3, 4, 5, 6),
    info: parseRequestInfo({ method: 'GET', path: '/api/v1/pods', query: new URLSearchParams('watch=1') }),
    caller: new Caller({ headers: { 'user-agent': 'kubectl' }, remoteAddress: '::1' }, { name: 'alice', groups: ['a', 'b"c'] }),
  },
  level: 'Request', stage, impersonated: undefined, found: undefined, status: { code: 200 }, requestObject, responseObject: undefined,
  stageMs: Date.UTC(2030, 0, 2, 3, 4, 6), annotations: writeAnnotations([['b/y', '2'], ['a/x', '1']]), revisions: undefined,
}, requestUri.length + (requestObject?.length ?? 0));

/** A backend that keeps the names of what it gets, batch by batch. */
function createRecorder(isStored: boolean | Promise<boolean> = true): AuditBackend & { readonly batches: string[] } {
  const batches: string[] = [];
  return {
    batches, stop: () => Promise.resolve(),
    process(events) {
      batches.push(events.map(({ fields }) => fields.request.auditId).join());
      return isStored;
    },
  };
}

const renderErrors = (metrics: ReturnType<typeof createAuditMetrics>): string[] =>
  metrics.render().filter((line) => line.startsWith('apiserver_audit_error_total{'));

describe('AuditEvent', () => {
  it('writes fields in the order of the reference', () => {
    assert.equal(makeEvent('id', '{"a":1}').json, '{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"id","stage":"ResponseComplete",' +
      '"requestURI":"/api/v1/pods?watch=1","verb":"watch","user":{"username":"alice","groups":["a","b\\"c"]},"sourceIPs":["::1"],"userAgent":"kubectl",' +
      '"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestObject":{"a":1},' +
      '"requestReceivedTimestamp":"2030-01-02T03:04:05.006000Z","stageTimestamp":"2030-01-02T03:04:06.000000Z","annotations":{"a/x":"1","b/y":"2"}}');
  });

  it('is one line in the legacy format', () => {
    assert.equal(formatLegacy(makeEvent('id')), '2030-01-02T03:04:05.006Z AUDIT: id="id" stage="ResponseComplete" ip="::1" method="watch" user="alice" ' +
      'groups="\\"a\\",\\"b\\\\\\"c\\"" as="<self>" asgroups="<lookup>" user-agent="kubectl" namespace="<none>" uri="/api/v1/pods?watch=1" response="200"');
  });
});

describe('bufferEvents', () => {
  const create = (options: Partial<BatchOptions> = {}, sent: boolean | Promise<boolean> = true) => {
    const [clock, metrics, recorder] = [createManualClock(), createAuditMetrics(silentLogger), createRecorder(sent)];
    const limits = { maxBatchBytes: 1_000_000, maxHeldBytes: 1_000_000 };
    const all = { bufferSize: 5, maxBatchSize: 2, maxWaitMs: 1000, throttle: undefined, maxSending: 1, ...limits, ...options };
    const backend = bufferEvents(recorder, all, { clock, metrics });
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms);
      await new Promise(setImmediate);
    };
    return { backend, metrics, batches: recorder.batches, pass };
  };
  const send = (backend: AuditBackend, ...ids: string[]) => backend.process(ids.map((id) => makeEvent(id)));

  it('sends full batches soon and others after the wait', async () => {
    const { backend, batches, pass } = create();
    await send(backend, 'a', 'b', 'c');
    assert.deepEqual(batches, []);
    await pass(0);
    assert.deepEqual(batches, ['a,b']);
    await pass(1000);
    await pass(0);
    assert.deepEqual(batches, ['a,b', 'c']);
  });

  it('loses and counts what does not fit into the buffer, and never refuses', async () => {
    const { backend, metrics } = create();
    assert.equal(await send(backend, 'a', 'b', 'c', 'd', 'e', 'f', 'g'), true);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="buffered"} 2']);
  });

  it('cuts batches by bytes, and sends one that is full of them', async () => {
    const { bytes } = makeEvent('a');
    const { backend, batches, pass } = create({ maxBatchSize: 4, maxBatchBytes: 2 * bytes + 1 });
    await send(backend, 'a', 'b');
    await pass(0);
    assert.equal(batches.length, 0);
    await send(backend, 'c', 'x'.repeat(3 * bytes), 'd');
    await pass(0);
    assert.deepEqual(batches.map((ids) => ids.replace(/x+/, 'x')), ['a,b', 'c', 'x']);
    await pass(1000);
    await pass(0);
    assert.equal(batches.at(-1), 'd');
  });

  it('counts the bytes of a batch until it is out', async () => {
    let answer = (_: boolean): void => {};
    const sent = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const { backend, batches, metrics, pass } = create({ maxBatchSize: 1, maxSending: 5, maxHeldBytes: 2 * makeEvent('a').bytes }, sent);
    for (const id of ['a', 'b', 'c']) {
      await send(backend, id);
      await pass(0);
    }
    assert.deepEqual(batches, ['a', 'b']);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="buffered"} 1']);
    answer(true);
    await pass(0);
    await send(backend, 'd');
    await pass(0);
    assert.deepEqual(batches, ['a', 'b', 'd']);
  });

  it('holds to the batches per second', async () => {
    const { backend, batches, pass } = create({ throttle: { qps: 1, burst: 1 }, maxBatchSize: 1 });
    await send(backend, 'a', 'b', 'c');
    await pass(0);
    assert.deepEqual(batches, ['a']);
    await pass(1000);
    assert.deepEqual(batches, ['a', 'b']);
    await pass(1000);
    assert.deepEqual(batches, ['a', 'b', 'c']);
  });

  it('sends what is left when it stops, and counts what comes later', async () => {
    const { backend, batches, metrics, pass } = create();
    await send(backend, 'a', 'b', 'c');
    const stopped = backend.stop();
    await pass(0);
    await stopped;
    assert.deepEqual(batches, ['a,b', 'c']);
    await send(backend, 'd');
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="buffered"} 1']);
  });
});

describe('truncateEvents', () => {
  it('removes large bodies, and discards what is still too large', async () => {
    const [metrics, kept] = [createAuditMetrics(silentLogger), [] as AuditEvent[][]];
    const sink: AuditBackend = { process: (events) => kept.push([...events]) > 0, stop: () => Promise.resolve() };
    const backend = truncateEvents(sink, 700, metrics);
    await backend.process([makeEvent('small'), makeEvent('large', JSON.stringify('x'.repeat(700))), makeEvent('y'.repeat(700)), makeEvent('third')]);
    assert.deepEqual(kept.map((batch) => batch.map(({ fields }) => fields.request.auditId)), [['small', 'large', 'third']]);
    assert.deepEqual([kept[0]?.[1]?.fields.requestObject, kept[0]?.[1]?.fields.annotations.entries.at(-1)], [undefined, ['audit.k8s.io/truncated', 'true']]);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="truncate"} 1']);
  });
});

describe('modes', () => {
  it('blocking ignores failures, and all backends of a server get each event', async () => {
    const [good, bad] = [createRecorder(), createRecorder(false)];
    assert.equal(await ignoreFailures(bad).process([makeEvent('a')]), true);
    assert.equal(await uniteBackends([bad, good]).process([makeEvent('b')]), false);
    assert.deepEqual([good.batches, bad.batches], [['b'], ['a', 'b']]);
  });

  it('a strict log reports that it cannot write; otherwise the events of a turn are one write, before the first answer leaves', async () => {
    const metrics = createAuditMetrics(silentLogger);
    const full = { write: () => assert.fail('no space'), close: () => Promise.resolve() };
    assert.equal(await createLogBackend({ file: full, format: 'json', isStrict: true, metrics }).process([makeEvent('a')]), false);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="log"} 1']);
    const writes: string[] = [];
    const file = { write: (bytes: Uint8Array) => void writes.push(Buffer.from(bytes).toString()), close: () => Promise.resolve() };
    const backend = createLogBackend({ file, format: 'legacy', isStrict: false, metrics });
    const countLines = () => writes.map((text) => text.split('\n').length - 1);
    for (const id of ['a', 'b']) await backend.process([makeEvent(id, undefined, 'RequestReceived')]);
    assert.deepEqual(countLines(), []);
    await backend.process([makeEvent('a')]);
    assert.deepEqual(countLines(), []);
    backend.flush?.();
    assert.deepEqual(countLines(), [3]);
    await backend.process([makeEvent('c', undefined, 'RequestReceived')]);
    await new Promise(setImmediate);
    assert.deepEqual(countLines(), [3, 1]);
  });

  it('a log writes long events by themselves, so that one that the file refuses takes no others with it', () => {
    const metrics = createAuditMetrics(silentLogger);
    const writes: string[][] = [];
    const file = {
      write(bytes: Uint8Array) {
        assert.ok(bytes.length < 200_000, 'too long');
        writes.push(Buffer.from(bytes).toString().trimEnd().split('\n').map((line) => (JSON.parse(line) as { readonly auditID: string }).auditID));
      },
      close: () => Promise.resolve(),
    };
    const backend = createLogBackend({ file, format: 'json', isStrict: false, metrics });
    const body = (length: number): string => JSON.stringify('é'.repeat(length));
    for (const [id, length] of [['a', 10], ['b', 300_000], ['c', 10], ['d', 90_000], ['e', 10]] as const) backend.process([makeEvent(id, body(length))]);
    for (let id = 0; id < 70; id += 1) backend.process([makeEvent(String(id))]);
    backend.flush?.();
    assert.deepEqual(writes.map((ids) => `${ids[0]} ${ids.length}`), ['a 1', 'c 1', 'd 1', 'e 64', '63 7']);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="log"} 1']);
  });
});

describe('createLogBackend', () => {
  it('writes before the long paths of events that wait become a text without a bound', () => {
    const lengths: number[] = [];
    const file = { write: (bytes: Uint8Array) => void lengths.push(bytes.length), close: () => Promise.resolve() };
    const backend = createLogBackend({ file, format: 'json', isStrict: false, metrics: createAuditMetrics(silentLogger) });
    for (let id = 0; id < 60; id += 1) backend.process([makeEvent(String(id), undefined, 'ResponseComplete', `/api/v1/pods?a=${'b'.repeat(30_000)}`)]);
    backend.flush?.();
    assert.equal(lengths.length, 20);
    assert.ok(Math.max(...lengths) < 100_000, `${Math.max(...lengths)} bytes at once`);
  });
});

describe('createWebhookBackend', () => {
  it('tries five times with growing pauses, then counts the events as lost', async () => {
    const [clock, metrics, bodies] = [createManualClock(), createAuditMetrics(silentLogger), [] as string[]];
    const post = (body: string) => {
      bodies.push(body);
      return Promise.reject(new Error('refused'));
    };
    const backend = createWebhookBackend({ post, clock, random: { below: () => 0 }, initialBackoffMs: 100, metrics });
    const sent = backend.process([makeEvent('a')]);
    for (const pauseMs of [100, 150, 225, 337.5]) {
      await new Promise(setImmediate);
      const before = bodies.length;
      clock.advance(pauseMs - 1);
      await new Promise(setImmediate);
      assert.equal(bodies.length, before);
      clock.advance(1);
    }
    assert.equal(await sent, false);
    assert.equal(bodies.length, 5);
    assert.deepEqual(renderErrors(metrics), ['apiserver_audit_error_total{plugin="webhook"} 1']);
  });

  it('does not pause once the server stops', async () => {
    let attempts = 0;
    const clock = createManualClock();
    const backend = createWebhookBackend({
      post: () => Promise.reject(new Error(`refused ${attempts += 1}`)), clock, random: systemRandom, initialBackoffMs: 100,
      metrics: createAuditMetrics(silentLogger),
    });
    const sent = backend.process([makeEvent('a')]);
    await new Promise(setImmediate);
    await backend.stop();
    assert.equal(await sent, false);
    assert.equal(attempts, 2);
    assert.equal(clock.pendingTimers, 0);
  });
});

describe('createWebhookBackend that stops', () => {
  it('waits for the lists that are on their way', async () => {
    let answer = (_: unknown): void => {};
    const post = (): Promise<unknown> => new Promise((resolve) => {
      answer = resolve;
    });
    const backend = createWebhookBackend({
      post, clock: createManualClock(), random: systemRandom, initialBackoffMs: 100, metrics: createAuditMetrics(silentLogger),
    });
    const steps: string[] = [];
    const sent = Promise.resolve(backend.process([makeEvent('a')])).then(() => steps.push('sent'));
    const stopped = backend.stop().then(() => steps.push('stopped'));
    await new Promise(setImmediate);
    assert.deepEqual(steps, []);
    answer({});
    await Promise.all([sent, stopped]);
    assert.deepEqual(steps, ['sent', 'stopped']);
  });
});

describe('openLogFile', () => {
  it('rotates by size, removes by number and age, and compresses', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-log-'));
    const clock = createManualClock();
    const megabyte = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    const options = { path: join(directory, 'audit.log'), maxSizeMb: 1, maxBackups: 2, compress: true };
    const open = (maxAgeDays: number) => openLogFile({ ...options, maxAgeDays }, clock, (error) => assert.fail(String(error)));
    const file = open(0);
    for (let day = 0; day < 4; day += 1) {
      file.write(Buffer.from(megabyte));
      clock.advance(86_400_000);
    }
    assert.throws(() => file.write(Buffer.from(`${megabyte}x`)), /exceeds maximum file size/);
    await file.close();
    const backups = readdirSync(directory).filter((name) => name !== 'audit.log');
    assert.equal(backups.length, 2);
    for (const name of backups) {
      assert.match(name, /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}\.log\.gz$/);
      assert.equal(gunzipSync(readFileSync(join(directory, name))).length, megabyte.length);
    }
    clock.advance(5 * 86_400_000);
    const young = open(3);
    young.write(Buffer.from(megabyte));
    await young.close();
    await eventually(() => assert.equal(readdirSync(directory).length, 2));
    rmSync(directory, { recursive: true });
  });
});

describe('openLogFile of several processes', () => {
  it('keeps the lines of all, and one of them rotates', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-log-'));
    const clock = createManualClock();
    const asked: number[] = [];
    const open = (askRotation?: (bytes: number) => void) => openLogFile({
      path: join(directory, 'audit.log'), maxSizeMb: 1, maxBackups: 0, maxAgeDays: 0, compress: false, shared: { askRotation },
    }, clock, (error) => assert.fail(String(error)));
    const owner = open();
    const worker = open((bytes) => asked.push(bytes));
    const half = Buffer.from(`${'x'.repeat(512 * 1024)}\n`);
    worker.write(half);
    worker.write(half);
    assert.deepEqual(asked, [half.length]);
    owner.rotateFor?.(half.length);
    clock.advance(1000);
    owner.rotateFor?.(half.length);
    worker.write(Buffer.from('worker\n'));
    owner.write(Buffer.from('owner\n'));
    await Promise.all([owner.close(), worker.close()]);
    assert.equal(readFileSync(join(directory, 'audit.log'), 'utf8'), 'worker\nowner\n');
    const [backup = '', ...others] = readdirSync(directory).filter((name) => name !== 'audit.log');
    assert.deepEqual(others, []);
    assert.equal(readFileSync(join(directory, backup)).length, 2 * half.length);
    rmSync(directory, { recursive: true });
  });
});

describe('openLogFile of a pipe', () => {
  it('writes on, however much it was, and leaves the name to its owner', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-log-'));
    const path = join(directory, 'audit.log');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, 'r+');
    const file = openLogFile({ path, maxSizeMb: 1, maxBackups: 0, maxAgeDays: 0, compress: false }, createManualClock(), (error) => assert.fail(String(error)));
    const [chunk, read] = [Buffer.alloc(32 * 1024, 'x'), Buffer.alloc(32 * 1024)];
    for (let written = 0; written <= 1024 * 1024; written += chunk.length) {
      file.write(chunk);
      assert.equal(readSync(reader, read), chunk.length);
    }
    await file.close();
    closeSync(reader);
    assert.deepEqual(readdirSync(directory), ['audit.log']);
    rmSync(directory, { recursive: true });
  });
});

describe('openLogFile with a directory that fails it', () => {
  const large = `${'x'.repeat(1024 * 1024 - 10)}\n`;
  const open = (directory: string) => openLogFile({ path: join(directory, 'audit.log'), maxSizeMb: 1, maxBackups: 0, maxAgeDays: 0, compress: false },
    createManualClock(Date.UTC(2030, 0, 2)), (error) => assert.fail(String(error)));
  const inDirectory = async (run: (directory: string) => Promise<void>): Promise<void> => {
    const directory = mkdtempSync(join(tmpdir(), 'audit-log-'));
    await run(directory);
    rmSync(directory, { recursive: true });
  };

  it('keeps the file while it cannot rotate, and writes to no other', () => inDirectory(async (directory) => {
    const [path, backup, other] = ['audit.log', 'audit-2030-01-02T00-00-00.000.log', 'other'].map((name) => join(directory, name)) as [string, string, string];
    const file = open(directory);
    file.write(Buffer.from(large));
    mkdirSync(backup);
    assert.throws(() => file.write(Buffer.from(large)), /EISDIR|ENOTEMPTY|EEXIST|EPERM/);
    const descriptor = openSync(other, 'w');
    file.write(Buffer.from('small\n'));
    assert.throws(() => file.write(Buffer.from(large)));
    closeSync(descriptor);
    assert.deepEqual([readFileSync(path, 'utf8'), readFileSync(other, 'utf8')], [`${large}small\n`, '']);
    rmdirSync(backup);
    file.write(Buffer.from(large));
    await file.close();
    assert.deepEqual([readFileSync(path, 'utf8'), readFileSync(backup, 'utf8')], [large, `${large}small\n`]);
  }));

  it('keeps the file while it cannot open the next one', () => inDirectory(async (directory) => {
    const path = join(directory, 'audit.log');
    const file = open(directory);
    file.write(Buffer.from(large));
    unlinkSync(path);
    symlinkSync(join(directory, 'none', 'audit.log'), path);
    assert.throws(() => file.write(Buffer.from(large)), /ENOENT/);
    const descriptor = openSync(join(directory, 'other'), 'w');
    file.write(Buffer.from('small\n'));
    closeSync(descriptor);
    assert.equal(readFileSync(join(directory, 'other'), 'utf8'), '');
    unlinkSync(path);
    file.write(Buffer.from(large));
    await file.close();
    assert.equal(readFileSync(path, 'utf8'), large);
  }));

  it('refuses to write once it is closed', () => inDirectory(async (directory) => {
    const file = open(directory);
    await file.close();
    const descriptor = openSync(join(directory, 'other'), 'w');
    assert.throws(() => file.write(Buffer.from('late\n')), /the file is closed/);
    await file.close();
    closeSync(descriptor);
    assert.equal(readFileSync(join(directory, 'other'), 'utf8'), '');
  }));
});

describe('describeLatency', () => {
  it('describes durations as Go prints them, in microseconds at the finest', () => {
    const print = (ms: number) => describeLatency({ startedMs: 0, marks: [['authorization', ms]], endedMs: ms + 600_000 })[0]?.[1];
    assert.deepEqual([0.25, 12.5, 999.9991, 1500, 61_000.5, 3_600_000].map(print), ['250µs', '12.5ms', '999.999ms', '1.5s', '1m1.0005s', '1h0m0s']);
  });
});
