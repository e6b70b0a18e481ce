// The clock of the machine leaps while a client writes and another watches: versions, order and history do not depend on it. Needs libfaketime (a
// Debian package; PINTLE_LIBFAKETIME names another place) and skips without.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTestClient, eventually } from '../../src/test-support/index.ts';

const library = process.env['PINTLE_LIBFAKETIME'] ?? '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const PATH = '/api/v1/namespaces/default/configmaps';
const WRITES_A_LEAP = 50;

/** The program, under a clock whose offset is read from a file; resolves with its address. */
async function start(directory: string, offsets: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const tokens = path.join(directory, 'tokens.csv');
  writeFileSync(tokens, 'admin-token,admin,1,system:masters\n');
  const program = fileURLToPath(new URL('../../bin/pintle.js', import.meta.url));
  const child = spawn(process.execPath, [program, '--data-dir', path.join(directory, 'data'), '--secure-port', '0', '--token-auth-file', tokens], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: offsets, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const address = /https:\/\/[\d.:]+/;
  await eventually(() => assert.match(text, address));
  return { child, url: address.exec(text)?.[0] as string };
}

test('leaps of the clock change neither versions nor watches nor history', { skip: !existsSync(library) && `${library} is not there` }, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'pintle-clock-'));
  const offsets = path.join(directory, 'offset');
  writeFileSync(offsets, '+0');
  const { child, url } = await start(directory, offsets);
  const client = createTestClient(url, 'admin-token');
  try {
    await eventually(async () => assert.equal((await client.request({ path: '/readyz' })).status, 200));
    const { resourceVersion } = JSON.parse((await client.request({ path: PATH })).text).metadata;
    const versions: number[] = [];
    const stamps = new Set<string>();
    for (const [index, offset] of ['+0', '+1h', '-1h', '+1d', '-1d', '+0'].entries()) {
      writeFileSync(offsets, offset);
      for (let i = 0; i < WRITES_A_LEAP; i++) {
        const { status, text } = await client.request({ method: 'POST', path: PATH, body: { metadata: { name: `c${index}-${i}` } } });
        assert.equal(status, 201);
        const { metadata } = JSON.parse(text);
        versions.push(Number(metadata.resourceVersion));
        stamps.add(metadata.creationTimestamp.slice(0, 10));
      }
    }
    assert.equal(stamps.size, 3, 'the clock did leap');
    assert.deepEqual(versions, [...versions].sort((a, b) => a - b));
    assert.equal(new Set(versions).size, versions.length);
    const watched = await client.request({ path: `${PATH}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}` });
    const seen = watched.text.trim().split('\n').map((line) => JSON.parse(line)).map(({ object }) => Number(object.metadata.resourceVersion));
    assert.deepEqual(seen, versions);
    assert.equal((await client.request({ path: `${PATH}?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}` })).status, 200);
    assert.equal((await client.request({ path: '/readyz' })).status, 200);
  } finally {
    client.close();
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      await once(child, 'exit');
    }
    rmSync(directory, { recursive: true, force: true });
  }
});
