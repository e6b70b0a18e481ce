// Certificates: chains that TLS accepts, files that only the owner can read, reuse and renewal.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { createCertificate } from './certificates.ts';
import { preparePki } from './pki.ts';

const base = { clock: systemClock, random: systemRandom, addresses: ['127.0.0.1', '192.0.2.7'], serviceRange: '10.0.0.0/24' };

describe('preparePki', () => {
  it('makes a serving certificate for every name that clients use', () => {
    const { authority, serving, admin } = preparePki({ ...base, directory: '' });
    const [root, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(serving.certificate)];
    assert.ok(root.ca && !leaf.ca && leaf.checkIssued(root) && leaf.verify(root.publicKey));
    for (const name of ['kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost']) assert.equal(leaf.checkHost(name), name);
    for (const address of ['127.0.0.1', '192.0.2.7', '10.0.0.1']) assert.equal(leaf.checkIP(address), address);
    assert.equal(new X509Certificate(admin.certificate).subject, 'O=system:masters\nCN=kubernetes-admin');
  });

  it('keeps its files to the owner, and uses them again', () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'pintle-pki-')), 'pki');
    const first = preparePki({ ...base, directory });
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
    assert.deepEqual(preparePki({ ...base, directory }), first);
    rmSync(directory, { recursive: true });
  });

  it('renews leaves that run out and certificates that miss an address, under the same authority', () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'pintle-pki-')), 'pki');
    const first = preparePki({ ...base, directory });
    const moved = preparePki({ ...base, directory, addresses: ['192.0.2.8'] });
    assert.equal(moved.authority.certificate, first.authority.certificate);
    assert.equal(moved.admin.certificate, first.admin.certificate);
    assert.notEqual(moved.serving.certificate, first.serving.certificate);
    const later = preparePki({ ...base, directory, clock: { ...systemClock, now: () => Date.now() + 350 * 86_400_000 } });
    assert.notEqual(later.admin.certificate, first.admin.certificate);
    rmSync(directory, { recursive: true });
  });

  it('makes a serving certificate with an RSA key where suites need one', () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'pintle-pki-')), 'pki');
    const kindOf = (pair: { readonly certificate: string }): string | undefined => new X509Certificate(pair.certificate).publicKey.asymmetricKeyType;
    const first = preparePki({ ...base, directory });
    const second = preparePki({ ...base, directory, needsRsa: true });
    assert.deepEqual([kindOf(first.serving), kindOf(second.serving), kindOf(second.admin)], ['ec', 'rsa', 'ec']);
    assert.ok(new X509Certificate(second.serving.certificate).verify(new X509Certificate(first.authority.certificate).publicKey));
    assert.deepEqual(preparePki({ ...base, directory, needsRsa: true }), second);
    rmSync(directory, { recursive: true });
  });

  it('uses a serving certificate that another program put there, and leaves it alone', () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'pintle-pki-')), 'pki');
    const other = createCertificate({ commonName: 'elsewhere', hosts: ['127.0.0.1'], lifetimeMs: 1000 }, base);
    mkdirSync(directory);
    writeFileSync(join(directory, 'apiserver.crt'), other.certificate);
    writeFileSync(join(directory, 'apiserver.key'), other.key);
    assert.deepEqual(preparePki({ ...base, directory }).serving, other);
    assert.equal(readFileSync(join(directory, 'apiserver.crt'), 'utf8'), other.certificate);
    rmSync(directory, { recursive: true });
  });

  it('refuses a key that is not the certificate’s', () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'pintle-pki-')), 'pki');
    preparePki({ ...base, directory });
    writeFileSync(join(directory, 'admin.key'), readFileSync(join(directory, 'ca.key')));
    assert.throws(() => preparePki({ ...base, directory }), /admin\.crt and .*admin\.key do not belong together/);
    rmSync(directory, { recursive: true });
  });
});
