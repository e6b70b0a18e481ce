// Images of the real node: programs of the machine run in them with the libraries that they came with, before links of busybox by the same name.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../scripts/cluster/cluster.ts';
import { writeImage } from '../../scripts/cluster/image.ts';

const folders = (process.env['PATH'] ?? '').split(delimiter);
const programs = ['busybox', 'bash', 'ldd', 'tar', 'chroot'].map((name) => findProgram(name, folders));
const obstacle = process.getuid?.() !== 0 ? 'chroot needs root' : programs.includes(undefined) && 'busybox, bash, ldd, tar or chroot is not on PATH';

test('a program of the machine runs in an image with its libraries', { skip: obstacle }, (t) => {
  const work = mkdtempSync(join(tmpdir(), 'pintle-image-test-'));
  t.after(() => rmSync(work, { recursive: true }));
  const [busybox, bash] = programs as [string, string];
  writeImage(join(work, 'image.tar'), { names: ['localhost/image:1'], entrypoint: [], busybox, tools: { sh: bash } });
  const root = join(work, 'root');
  mkdirSync(root);
  execFileSync('tar', ['-C', work, '-xf', join(work, 'image.tar')]);
  execFileSync('tar', ['-C', root, '-xf', join(work, 'layer.tar')]);
  const run = (...command: readonly string[]): string => execFileSync('chroot', [root, ...command], { encoding: 'utf8' });
  assert.match(run('/bin/sh', '-c', 'echo $BASH_VERSION'), /^\d/);
  assert.equal(run('/bin/ash', '-c', 'echo of busybox'), 'of busybox\n');
});
