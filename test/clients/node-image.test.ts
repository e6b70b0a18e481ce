// Images of the real node: programs of the machine run in them with the libraries that they came with, before links of busybox by the same name.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../scripts/cluster/cluster.ts';
import { writeImage } from '../../scripts/cluster/image.ts';
import { BOX_IMAGE, listImages } from '../../scripts/cluster/images.ts';

const folders = (process.env['PATH'] ?? '').split(delimiter);
const programs = ['busybox', 'bash', 'ldd', 'tar', 'chroot'].map((name) => findProgram(name, folders));
const obstacle = process.getuid?.() !== 0 ? 'chroot needs root' : programs.includes(undefined) && 'busybox, bash, ldd, tar or chroot is not on PATH';

test('a program of the machine runs in an image with its libraries', { skip: obstacle }, (t) => {
  const work = mkdtempSync(join(tmpdir(), 'pintle-image-test-'));
  t.after(() => rmSync(work, { recursive: true }));
  const [busybox, bash] = programs as [string, string];
  writeImage(join(work, 'image.tar'), { names: ['localhost/image:1'], entrypoint: [], busybox, tools: { sh: bash }, links: { 'bin/second': 'sh' } });
  const root = join(work, 'root');
  mkdirSync(root);
  execFileSync('tar', ['-C', work, '-xf', join(work, 'image.tar')]);
  execFileSync('tar', ['-C', root, '-xf', join(work, 'layer.tar')]);
  const run = (...command: readonly string[]): string => execFileSync('chroot', [root, ...command], { encoding: 'utf8' });
  assert.match(run('/bin/sh', '-c', 'echo $BASH_VERSION'), /^\d/);
  assert.match(run('/bin/second', '-c', 'echo $BASH_VERSION'), /^\d/);
  assert.equal(run('/bin/ash', '-c', 'echo of busybox'), 'of busybox\n');
});

test('the image of busybox starts a shell where a pod names no command, and keeps variables of any name', { skip: obstacle }, (t) => {
  const work = mkdtempSync(join(tmpdir(), 'pintle-image-test-'));
  t.after(() => rmSync(work, { recursive: true }));
  const image = listImages(programs[0] as string, () => undefined, () => programs[1]).find(({ names }) => names.includes(BOX_IMAGE));
  assert.ok(image !== undefined);
  writeImage(join(work, 'image.tar'), image);
  execFileSync('tar', ['-C', work, '-xf', join(work, 'image.tar')]);
  const [{ Config: name }] = JSON.parse(readFileSync(join(work, 'manifest.json'), 'utf8')) as [{ readonly Config: string }];
  assert.deepEqual(JSON.parse(readFileSync(join(work, name), 'utf8')).config.Cmd, ['sh']);
  const root = join(work, 'root');
  mkdirSync(root);
  execFileSync('tar', ['-C', root, '-xf', join(work, 'layer.tar')]);
  const variables = execFileSync(programs[4] as string, [root, '/bin/sh', '-c', 'env'], { encoding: 'utf8', env: { 'data-1': 'one', PATH: '/bin' } });
  assert.match(variables, /^data-1=one$/m);
});
