// The images that the node of `npm run cluster` has. Nothing is pulled: each is made of programs that are on the machine.
import type { Image } from './image.ts';
import { DNS_IMAGE } from './dns.ts';

/** The image of a pod's sandbox. */
export const PAUSE_IMAGE = 'registry.k8s.io/pause:3.10.2';
/** The image for pods. */
export const BOX_IMAGE = 'localhost/busybox:1';

const E2E = 'registry.k8s.io/e2e-test-images';
const showPicture = (name: string): string[] =>
  ['/bin/sh', '-c', `mkdir -p /www && echo '{"image": "${name}.jpg"}' > /www/data.json && exec httpd -f -p 80 -h /www`];

/** An image, and the files beside busybox that it wants: their paths in the image, by the names that the folder of programs has them under. */
interface ImageSpec {
  readonly names: readonly string[];
  readonly entrypoint: readonly string[];
  readonly arguments?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Programs that the image has where the machine has them: their names on the machine by those in the image. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** What tests call in pods of agnhost; busybox has other options, or no such program. A shell of busybox would still take its own `nc`. */
const NETWORK_TOOLS = { sh: 'bash', curl: 'curl', nc: 'nc', dig: 'dig', getent: 'getent', ss: 'ss' };

/**
 * Images by what they are made of. Those of the end-to-end tests are there when their programs are: agnhost, sample-apiserver and etcd are the programs
 * that the tests ask for; nginx and httpd are agnhost's web server, for tests that want a server and do not look at its pages.
 */
const specs: readonly ImageSpec[] = [
  { names: [PAUSE_IMAGE], entrypoint: ['/bin/busybox', 'sleep', '2147483647'] },
  // Tests set variables whose names a shell of busybox drops.
  { names: [BOX_IMAGE, `${E2E}/busybox:1.37.0-1`, `${E2E}/busybox:1.36.1-1`], entrypoint: [], arguments: ['sh'], tools: { sh: 'bash' } },
  { names: [DNS_IMAGE], entrypoint: ['/bin/coredns'], files: { coredns: 'bin/coredns' } },
  { names: [`${E2E}/agnhost:2.63.0`, `${E2E}/agnhost:2.55`], entrypoint: ['/agnhost'], arguments: ['pause'],
    files: { agnhost: 'agnhost', 'localhost.crt': 'localhost.crt', 'localhost.key': 'localhost.key', coredns: 'coredns' },
    tools: NETWORK_TOOLS, links: { 'agnhost-2': 'agnhost' } },
  { names: [`${E2E}/glibc-dns-testing:2.0.0`], entrypoint: [], arguments: ['sh'], tools: { sh: 'bash', dig: 'dig', getent: 'getent' } },
  { names: [`${E2E}/nginx:1.27-0`, `${E2E}/nginx:1.15-4`, `${E2E}/httpd:2.4.38-4`, `${E2E}/httpd:2.4.39-4`], files: { agnhost: 'agnhost' },
    entrypoint: ['/agnhost', 'netexec', '--http-port=80', '--udp-port=-1'] },
  ...['nautilus', 'kitten'].map((name) => ({ names: [`${E2E}/${name}:1.7`, `${E2E}/${name}:1.8`], entrypoint: showPicture(name) })),
  { names: [`${E2E}/sample-apiserver:1.29.2`], entrypoint: ['/sample-apiserver'], files: { 'sample-apiserver': 'sample-apiserver' } },
  { names: ['registry.k8s.io/etcd:3.6.8-0'], entrypoint: ['/usr/local/bin/etcd'], files: { etcd: 'usr/local/bin/etcd' } },
  { names: ['localhost/metrics-server:1'], entrypoint: ['/bin/metrics-server'], files: { 'metrics-server': 'bin/metrics-server' } },
];

/** Where things of a name are, where they are. */
type Find = (name: string) => string | undefined;

/** The images that can be made; `findFile` says where a file of the folder is, `findTool` where a program of the machine is. */
export function listImages(busybox: string, findFile: Find, findTool: Find): readonly Image[] {
  return specs.flatMap(({ files = {}, tools = {}, ...image }) => {
    const found = Object.entries(files).map(([name, path]) => [path, findFile(name)] as const);
    if (found.some(([, file]) => file === undefined)) return [];
    return [{ ...image, busybox, files: Object.fromEntries(found as readonly (readonly [string, string])[]),
      tools: Object.fromEntries(Object.entries(tools).flatMap(([name, tool]) => {
        const path = findTool(tool);
        return path === undefined ? [] : [[name, path]];
      })) }];
  });
}
