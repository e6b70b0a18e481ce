// Links of proxied pages: attributes that hold URLs are rewritten while the page passes through; all else stays byte for byte as it is. The parser
// is loaded with the first page: most servers never see one.
import { Duplex, PassThrough, type Transform, pipeline } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';

/** Attributes that hold URLs, by element: those that the reference knows. */
const urlAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href'], applet: ['codebase'], area: ['href'], audio: ['src'], base: ['href'], blockquote: ['cite'], body: ['background'], button: ['formaction'],
  command: ['icon'], del: ['cite'], embed: ['src'], form: ['action'], frame: ['longdesc', 'src'], head: ['profile'], html: ['manifest'],
  iframe: ['longdesc', 'src'], img: ['longdesc', 'src', 'usemap'], input: ['src', 'usemap', 'formaction'], ins: ['cite'], link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'], q: ['cite'], script: ['src'], source: ['src'], video: ['poster', 'src'],
};
/** Text and tags are held until their end: a page with a longer one is cut off. */
const MAX_TOKEN_BYTES = 4 * 1024 * 1024;

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&#34;', '<': '&lt;', '>': '&gt;', "'": '&#39;' };
const escapeValue = (value: string): string => value.replace(/[&"'<>]/g, (char) => escapes[char] as string);

interface Tag {
  readonly tagName: string;
  readonly attrs: readonly { readonly name: string; readonly value: string }[];
  readonly sourceCodeLocation?: {
    readonly startOffset: number;
    readonly attrs?: Readonly<Record<string, { readonly startOffset: number; readonly endOffset: number }>>;
  } | null;
}

/** A tag with its links rewritten; the rest of it stays as it is written. */
function rewriteTag({ tagName, attrs, sourceCodeLocation }: Tag, raw: string, rewriteLink: (link: string) => string): string {
  const wanted = Object.hasOwn(urlAttributes, tagName) ? urlAttributes[tagName] : undefined;
  if (wanted === undefined || sourceCodeLocation?.attrs === undefined) return raw;
  let text = '';
  let done = 0;
  for (const { name, value } of attrs) {
    const place = wanted.includes(name) ? sourceCodeLocation.attrs[name] : undefined;
    const link = place === undefined ? value : rewriteLink(value);
    if (link === value || place === undefined) continue;
    text += `${raw.slice(done, place.startOffset - sourceCodeLocation.startOffset)}${name}="${escapeValue(link)}"`;
    done = place.endOffset - sourceCodeLocation.startOffset;
  }
  return text + raw.slice(done);
}

async function createRewriter(rewriteLink: (link: string) => string): Promise<Transform> {
  const { RewritingStream } = await import('parse5-html-rewriting-stream');
  const rewriter = new RewritingStream();
  rewriter.setEncoding('utf8');
  rewriter.on('startTag', (tag, raw) => rewriter.emitRaw(rewriteTag(tag, raw, rewriteLink)));
  return rewriter;
}

/** Bytes as texts of the same length, so that they come out as they went in. */
async function* rewritePage(body: AsyncIterable<Buffer>, rewriteLink: (link: string) => string): AsyncGenerator<Uint8Array> {
  const rewriter = await createRewriter(rewriteLink);
  let held = 0;
  const written: Buffer[] = [];
  rewriter.on('data', (text: string) => {
    written.push(Buffer.from(text, 'latin1'));
    held = 0;
  });
  for await (const chunk of body) {
    held += chunk.length;
    if (held > MAX_TOKEN_BYTES) throw new Error('a page with too long a piece cannot be rewritten');
    await new Promise<void>((resolve, reject) => rewriter.write(chunk.toString('latin1'), 'utf8', (error) => (error ? reject(error) : resolve())));
    yield* written.splice(0);
  }
  await new Promise<void>((resolve) => rewriter.end(() => setImmediate(resolve)));
  yield* written.splice(0);
}

const codersByName: Readonly<Record<string, readonly [decode: () => Transform, encode: () => Transform]>> = {
  '': [() => new PassThrough(), () => new PassThrough()], gzip: [createGunzip, createGzip], deflate: [createInflateRaw, createDeflateRaw],
};
const ignore = (): void => undefined;

/** Rewrites the links of a page; undefined where the answer is none, or in a coding that is not known. */
export function createPageRewriter(headers: Map<string, readonly string[]>, rewriteLink: (link: string) => string) {
  const type = (headers.get('content-type')?.[0] ?? '').split(';')[0]?.trim();
  const coders = codersByName[headers.get('content-encoding')?.[0] ?? ''];
  if (type !== 'text/html' || coders === undefined) return undefined;
  headers.delete('content-length');
  const [decode, encode] = coders;
  return (body: AsyncIterable<Buffer>): AsyncIterable<Uint8Array> => {
    const rewrite = Duplex.from((source: AsyncIterable<Buffer>) => rewritePage(source, rewriteLink));
    return pipeline([Duplex.from(body), decode(), rewrite, encode()], ignore) as unknown as AsyncIterable<Uint8Array>;
  };
}
