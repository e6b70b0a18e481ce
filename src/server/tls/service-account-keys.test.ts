// Keys of service account tokens in a directory that several servers share.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServiceAccountKeys } from './service-account-keys.ts';

test('servers that share a directory sign with one key, whichever makes it, and verify what the others sign', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-keys-'));
  try {
    const makeKeys = () => createServiceAccountKeys({ serviceAccountKeyFiles: [], serviceAccountSigningKeyFile: '' }, directory);
    const servers = [makeKeys(), makeKeys(), makeKeys()] as const;
    assert.deepEqual(await servers[2].verifying(), []);
    const [one, two] = await Promise.all([servers[0].signing(), servers[1].signing()]);
    assert.equal(one.keyId, two.keyId);
    assert.deepEqual((await servers[2].verifying()).map(({ keyId }) => keyId), [one.keyId]);
    assert.equal((await makeKeys().signing()).keyId, one.keyId);
    assert.deepEqual(readdirSync(directory).sort(), ['sa.key', 'sa.pub']);
    assert.equal(statSync(join(directory, 'sa.key')).mode & 0o777, 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
