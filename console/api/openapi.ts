// The schemas of kinds, by the OpenAPI documents of the server: each is read when a kind of its version is first asked for.
import { type OpenApiDocument, type Schema, findSchema } from '../model/index.ts';
import { call } from './request.ts';

interface Index {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>;
}

/** The addresses change with the documents. */
const documents = new Map<string, Promise<OpenApiDocument>>();
const MOST = 20;
const INDEX_MS = 10_000;
let index: { readonly asked: number; readonly answer: Promise<Index> } | undefined;

/** Of a document by its address, read once. */
function readDocument(url: string): Promise<OpenApiDocument> {
  const known = documents.get(url);
  if (known !== undefined) return known;
  const reading = call(url, { mayCache: true }).then(({ body }) => body as OpenApiDocument);
  documents.set(url, reading);
  reading.catch(() => documents.delete(url));
  for (const oldest of documents.keys()) if (documents.size > MOST) documents.delete(oldest);
  return reading;
}

/** The schema of a kind; undefined where the server has none. Throws ApiError. */
export async function fetchSchema(apiVersion: string, kind: string): Promise<Schema | undefined> {
  if (index === undefined || Date.now() - index.asked > INDEX_MS) {
    index = { asked: Date.now(), answer: call('/openapi/v3').then(({ body }) => body as Index) };
    index.answer.catch(() => {
      index = undefined;
    });
  }
  const { paths = {} } = await index.answer;
  const url = paths[apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`]?.serverRelativeURL;
  return url?.startsWith('/openapi/') !== true ? undefined : findSchema(await readDocument(url), apiVersion, kind);
}
