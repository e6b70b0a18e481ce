// The files of the page, as the build leaves them in dist/console: each with its brotli and gzip form, listed with their types in manifest.json.
// Only names of that list are answered; nothing of a request becomes a path.
import { readFile } from 'node:fs/promises';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';

/** One file of the build. */
interface StaticFile {
  readonly type: string;
  readonly etag: string;
  /** The name changes with the content. */
  readonly hashed: boolean;
}

type Manifest = Readonly<Record<string, StaticFile>>;

/** Answers GET and HEAD; undefined for what is no file of the page. */
export type StaticFiles = (exchange: Pick<ServerExchange, 'method' | 'headers'>, name: string) => Promise<Response | undefined>;

const YEAR_SECONDS = 31_536_000;
const encodings = [['br', 'br'], ['gzip', 'gz']] as const;

/** Scripts, styles and requests of this origin and of no other, nothing inline; the page is shown in no frame and sends no form. */
const policy = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'",
  "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ');

/** Headers of every answer of the console. */
export const guardHeaders = {
  'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy': 'same-origin',
} as const;

/** The folder of the build: beside the bundle and beside the modules. */
const folders = ['../console/files/', '../../../console/files/'].map((path) => new URL(path, import.meta.url));

async function readManifest(): Promise<{ readonly folder: URL; readonly files: ReadonlyMap<string, StaticFile> }> {
  for (const folder of folders) {
    const text = await readFile(new URL('manifest.json', folder), 'utf8').catch(() => undefined);
    if (text !== undefined) return { folder, files: new Map(Object.entries(JSON.parse(text) as Manifest)) };
  }
  return { folder: folders[0] as URL, files: new Map() };
}

/** Makes the answers; the list of files is read with the first request, and each file when it is asked for. */
export function createStaticFiles(): StaticFiles {
  let reading: ReturnType<typeof readManifest> | undefined;
  return async ({ method, headers }, name) => {
    const { folder, files } = await (reading ??= readManifest());
    const file = files.get(name);
    if (file === undefined) return undefined;
    const accepted = (headers['accept-encoding'] ?? '').split(',').map((part) => part.trim().split(';')[0]);
    const [encoding, ending] = encodings.find(([token]) => accepted.includes(token)) ?? [undefined, undefined];
    const kept = {
      ...guardHeaders, etag: `"${file.etag}"`, vary: 'accept-encoding',
      'cache-control': file.hashed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    };
    const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
    if (known.includes(kept.etag)) return { status: 304, headers: kept, body: new Uint8Array() };
    const body = method === 'HEAD' ? new Uint8Array() : await readFile(new URL(ending === undefined ? name : `${name}.${ending}`, folder));
    return { status: 200, headers: { ...kept, 'content-type': file.type, ...(encoding !== undefined && { 'content-encoding': encoding }) }, body };
  };
}
