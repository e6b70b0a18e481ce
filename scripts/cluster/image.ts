// A container image without a registry: an archive of a static busybox, the links by which it is known, and static programs beside it.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What an image is made of. */
export interface Image {
  /** With their tags. */
  readonly names: readonly string[];
  readonly entrypoint: readonly string[];
  /** Arguments of the entry point where a pod gives none. */
  readonly arguments?: readonly string[];
  /** A busybox that needs no library. */
  readonly busybox: string;
  /** Further files, programs that need no library for instance: each by its path in the image. */
  readonly files?: Readonly<Record<string, string>>;
  /** Programs of this machine: their paths by the names that the image has them under. The libraries that they need come with them. */
  readonly tools?: Readonly<Record<string, string>>;
  /** Further names of files in the image: what they link to. */
  readonly links?: Readonly<Record<string, string>>;
}

const FOLDERS = ['bin', 'tmp', 'etc', 'proc', 'sys', 'dev', 'var', 'home', 'root', 'uploads', 'usr/local/bin'];
/** The users and groups of the end-to-end tests' images. */
const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nuser-defined-in-image:x:1000:1000::/home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n';
const GROUP = 'root:x:0:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n';
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The libraries of a program, by their paths. */
function listLibraries(program: string): string[] {
  return execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n').flatMap((line) => line.split(/\s/).filter((word) => word.startsWith('/')));
}

/** Puts programs of this machine in `bin`, before links of busybox by the same names, and their libraries where they are here. */
function copyTools(root: string, tools: Readonly<Record<string, string>>): void {
  for (const [name, tool] of Object.entries(tools)) {
    const to = join(root, 'bin', name);
    rmSync(to, { force: true });
    copyFileSync(tool, to);
  }
  for (const library of new Set(Object.values(tools).flatMap(listLibraries))) {
    mkdirSync(dirname(join(root, library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
}

/** Writes the archive that `ctr images import` reads. */
export function writeImage(file: string, image: Image): void {
  const { names, entrypoint, arguments: given, busybox, files = {}, tools = {}, links = {} } = image;
  const work = mkdtempSync(join(tmpdir(), 'pintle-image-'));
  try {
    const root = join(work, 'root');
    for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
    copyFileSync(busybox, join(root, 'bin', 'busybox'));
    const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter((applet) => applet !== '' && applet !== 'busybox');
    for (const applet of applets) symlinkSync('/bin/busybox', join(root, 'bin', applet));
    copyTools(root, tools);
    for (const [path, from] of Object.entries(files)) copyFileSync(from, join(root, path));
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(root, path));
    writeFileSync(join(root, 'etc', 'passwd'), PASSWD);
    writeFileSync(join(root, 'etc', 'group'), GROUP);
    chmodSync(join(root, 'tmp'), 0o1777);
    const pack = (folder: string, archive: string): void =>
      void execFileSync('tar', ['--owner=0', '--group=0', '--numeric-owner', '-C', folder, '-cf', archive, '.']);
    const archive = join(work, 'image');
    mkdirSync(archive);
    pack(root, join(archive, 'layer.tar'));
    const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
    const config = JSON.stringify({
      architecture: architectures[process.arch], os: 'linux', 
      config: { Entrypoint: entrypoint, ...(given && { Cmd: given }), Env: ['PATH=/bin:/'], WorkingDir: '/' },
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(readFileSync(join(archive, 'layer.tar')))}`] },
    });
    const configName = `${sha256(config)}.json`;
    writeFileSync(join(archive, configName), config);
    writeFileSync(join(archive, 'manifest.json'), JSON.stringify([{ Config: configName, RepoTags: names, Layers: ['layer.tar'] }]));
    pack(archive, file);
  } finally {
    rmSync(work, { recursive: true });
  }
}
