// The command as people and shells use it: users and their revocation on a running server, completions in real shells, exit codes, colours.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestServer, eventually, startTestServer } from '../../src/test-support/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-command-'));
after(() => rmSync(root, { recursive: true }));
const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

function pintle(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('runCommandLine exits with 2 for a command line that cannot be understood and with 1 for what fails, and has no colours in a pipe', () => {
  const unknown = pintle('storage', 'chekc');
  assert.deepEqual(unknown, { status: 2, stdout: '', stderr: 'pintle: unknown command: storage chekc (the nearest is storage check)\n' });
  assert.equal(pintle('storage', 'check', '--nope').status, 2);
  assert.deepEqual(pintle('storage', 'check', '--data-dir', join(root, 'none')).status, 1);
  assert.match(pintle('storage').stdout, /pintle storage snapshot/);
  assert.match(pintle('storage', 'check', '--help').stdout, /--repair/);
});

describe('users', () => {
  const dataDir = join(root, 'data');
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ dataDir });
  });
  after(() => server.close());

  /** A kubeconfig with a connection that stays open. */
  function makeUser(name: string): { kubeconfig: string; ask: () => Promise<number> } {
    const made = pintle('kubeconfig', '--user', name, '--group', 'system:masters', '--data-dir', dataDir);
    assert.equal(made.status, 0, made.stderr);
    const find = (field: string): Buffer => Buffer.from(new RegExp(`^ +${field}: (\\S+)$`, 'm').exec(made.stdout)?.[1] ?? '', 'base64');
    assert.match(find('client-key-data').toString(), /^-----BEGIN EC PRIVATE KEY-----/);
    const agent = new Agent({ keepAlive: true, ca: find('certificate-authority-data'), cert: find('client-certificate-data'), key: find('client-key-data') });
    const ask = (): Promise<number> => new Promise((resolve, reject) => {
      requestHttps(`${server.url}/api/v1/namespaces`, { agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      }).on('error', reject).end();
    });
    return { kubeconfig: made.stdout, ask };
  }

  test('users revoke takes effect on a running server and on open connections, for those certificates alone and after a restart', async () => {
    const [jane, joe] = [makeUser('jane'), makeUser('joe')];
    assert.deepEqual([await jane.ask(), await joe.ask()], [200, 200]);
    const listed = pintle('users', 'list', '--data-dir', dataDir).stdout;
    assert.match(listed, /^kubernetes-admin +system:masters .*valid\njane +system:masters .* valid\njoe .* valid$/m);
    const revoked = pintle('users', 'revoke', 'jane', '--data-dir', dataDir);
    assert.match(revoked.stdout, /^revoked jane [0-9a-f]{64}$/m);
    await eventually(async () => assert.equal(await jane.ask(), 401));
    assert.equal(await joe.ask(), 200);
    const again = makeUser('jane');
    assert.equal(await again.ask(), 200);
    writeFileSync(join(root, 'jane.kubeconfig'), again.kubeconfig);
    assert.equal(pintle('users', 'revoke', '--kubeconfig', join(root, 'jane.kubeconfig'), '--data-dir', dataDir).status, 0);
    await eventually(async () => assert.equal(await again.ask(), 401));
    await server.close();
    server = await startTestServer({ dataDir });
    assert.deepEqual([await jane.ask(), await again.ask(), await joe.ask()], [401, 401, 200]);
    assert.equal(pintle('users', 'list', '--user', 'jane', '--data-dir', dataDir).stdout.match(/ revoked$/gm)?.length, 2);
    assert.match(pintle('users', 'revoke', 'nobody', '--data-dir', dataDir).stderr, /no certificate of nobody is on record/);
  });

  test('the administrator\'s kubeconfig has a key as SEC 1', () => {
    const key = /client-key-data: (\S+)/.exec(readFileSync(join(dataDir, 'admin.kubeconfig'), 'utf8'))?.[1] ?? '';
    assert.match(Buffer.from(key, 'base64').toString(), /^-----BEGIN EC PRIVATE KEY-----/);
  });
});

const has = (shell: string): string | false => (spawnSync(shell, ['--version']).status === 0 ? false : `${shell} is not on PATH`);

/** What a shell offers for a line. */
const completers: Readonly<Record<string, (line: string) => string>> = {
  bash: (line) => {
    const words = `${line}${line.endsWith(' ') ? " ''" : ''}`;
    const script = `source ${join(root, 'bash')}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _pintle; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).stdout;
  },
  fish: (line) => spawnSync('fish', ['--no-config', '-c', `source ${join(root, 'fish')}; complete --do-complete '${line}'`], { encoding: 'utf8' }).stdout,
  zsh: (line) => {
    // The completion system itself runs in a terminal only: this is what the function hands to it.
    const script = `compdef() { : }; compadd() { print -l -- "\${@:#--}" }; _files() { : }; source ${join(root, 'zsh')}
      words=(${line}${line.endsWith(' ') ? " ''" : ''}); CURRENT=\${#words}; _pintle`;
    return spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' }).stdout;
  },
};

for (const [shell, complete] of Object.entries(completers)) {
  test(`completion ${shell} completes commands, their second words and their flags`, { skip: has(shell) }, () => {
    const script = pintle('completion', shell);
    assert.equal(script.status, 0);
    writeFileSync(join(root, shell), script.stdout);
    const offers = (line: string): string[] => complete(line).split('\n').map((offer) => offer.split('\t')[0]?.trim() ?? '');
    assert.ok(offers('pintle sto').includes('storage'), complete('pintle sto'));
    for (const word of ['snapshot', 'restore', 'check']) assert.ok(offers('pintle storage ').includes(word), complete('pintle storage '));
    const flags = offers('pintle storage restore --');
    assert.ok(flags.includes('--from') && !flags.includes('--secure-port'), flags.join(' '));
    assert.ok(offers('pintle serve --secure-p').includes('--secure-port'));
    assert.ok(offers('pintle --secure-p').includes('--secure-port'), 'without a command it serves');
    assert.ok(offers('pintle completion ').includes('zsh'), complete('pintle completion '));
    const checks = offers('pintle storage check --');
    assert.ok(checks.includes('--repair') && !checks.includes('--base'), checks.join(' '));
    const values = offers(`pintle serve --data-dir ${root.slice(0, -1)}`);
    assert.ok(!values.some((offer) => offer.startsWith('--')), `a value is no flag: ${values.join(' ')}`);
    assert.ok(offers('pintle users revoke --user jane --fi').includes('--fingerprint'));
  });
}
