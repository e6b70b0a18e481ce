// kubectl, as people have it, against a server of the library: every transcript of test/transcripts with the newest and the oldest binary at hand.
// PINTLE_REWRITE=1 (or --rewrite) accepts what is printed; PINTLE_KUBECTL names binaries; without any the suite says that it skips.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createServer } from '../../src/index.ts';
import { findKubectls, type Kubectl } from './kubectl.ts';
import { acceptOutput, expectedOutput, formatTranscript, parseTranscript, runCommand } from './transcript.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const transcripts = join(root, 'test', 'transcripts');
const rewrite = process.env['PINTLE_REWRITE'] === '1' || process.argv.includes('--rewrite');
const kubectls = findKubectls();
const only = process.env['PINTLE_TRANSCRIPT'] ?? '';

/** Plays one transcript on a server of its own; answers what differs. */
async function playTranscript(file: string, kubectl: Kubectl): Promise<string[]> {
  const path = join(transcripts, file);
  const parts = parseTranscript(readFileSync(path, 'utf8'));
  const home = mkdtempSync(join(tmpdir(), 'pintle-kubectl-'));
  const server = await createServer();
  try {
    await server.ready;
    mkdirSync(join(home, 'bin'));
    symlinkSync(kubectl.path, join(home, 'bin', 'kubectl'));
    writeFileSync(join(home, 'config'), server.kubeconfig, { mode: 0o600 });
    const env = { HOME: home, KUBECONFIG: join(home, 'config'), PATH: `${join(home, 'bin')}:${process.env['PATH']}`, LC_ALL: 'C', TZ: 'UTC' };
    const surprises: string[] = [];
    for (const part of parts) {
      if (part.type === 'prose') continue;
      const output = await runCommand(part.command, { folder: join(root, 'test', 'clients'), env });
      const expected = expectedOutput(part, kubectl.version);
      if (rewrite) acceptOutput(part, kubectl.version, { output, leads: kubectl === kubectls[0] });
      else if (output !== expected) surprises.push(describeSurprise(part.command, { expected, output }));
    }
    if (rewrite) writeFileSync(path, formatTranscript(parts));
    return surprises;
  } finally {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The command and the lines that differ, few of them. */
function describeSurprise(command: string, { expected, output }: { readonly expected: string; readonly output: string }): string {
  const [wanted, printed] = [expected.split('\n'), output.split('\n')];
  const missing = wanted.filter((line) => !printed.includes(line)).slice(0, 20).map((line) => `- ${line}`);
  const added = printed.filter((line) => !wanted.includes(line)).slice(0, 20).map((line) => `+ ${line}`);
  const moved = missing.length + added.length === 0 ? ['  (the same lines in another order)'] : [];
  return [`$ ${command}`, ...missing, ...added, ...moved].join('\n');
}

describe('kubectl', { skip: kubectls.length === 0 ? 'no kubectl on PATH and none in PINTLE_KUBECTL' : false }, () => {
  for (const kubectl of kubectls) {
    for (const file of readdirSync(transcripts).filter((name) => name.endsWith('.txt') && name.includes(only)).sort()) {
      test(`kubectl ${kubectl.version} prints what ${file} says`, { timeout: 300_000 }, async () => {
        const surprises = await playTranscript(file, kubectl);
        assert.equal(surprises.length, 0, `\n${surprises.join('\n\n')}\n`);
      });
    }
  }
});
