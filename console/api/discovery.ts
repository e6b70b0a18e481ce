// What the server serves, and what the user may do, as the API itself says it.
import { type Kind, type KindPath, type Metrics, formatPath, parseMetrics, readKinds } from '../model/index.ts';
import { call, open } from './request.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The kinds that can be listed. */
export async function fetchKinds(): Promise<Kind[]> {
  const documents = await Promise.all(['/api', '/apis'].map((path) => call(path, { accept: AGGREGATED, asSelf: true })));
  return documents.flatMap(({ body }) => readKinds(body));
}

/** The user as the server sees it. */
export interface Self {
  readonly name: string;
  readonly groups: readonly string[];
}

/** The user of the session; undefined where there is none. */
export async function fetchSelf(): Promise<Self | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  try {
    const { body } = await call(path, { method: 'POST', type: 'application/json', body: JSON.stringify(review), asSelf: true });
    const { username = '', groups = [] } = body.status?.userInfo ?? {};
    return username === '' || username === 'system:anonymous' ? undefined : { name: username, groups };
  } catch (error) {
    if ((error as { code?: number }).code === 401 || (error as { code?: number }).code === 403) return undefined;
    throw error;
  }
}

/** Something that extends the server, with what the server says of its health. */
export interface Extension {
  readonly name: string;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[];
}

const MOST_EXTENSIONS = 500;

/** The extensions of a kind. Throws ApiError. */
export async function fetchExtensions(kind: KindPath, signal: AbortSignal): Promise<Extension[]> {
  const { body } = await call(`${formatPath(kind)}?limit=${MOST_EXTENSIONS}`, { signal });
  return (body.items as any[]).map(({ metadata, status }) => ({ name: metadata.name, conditions: status?.conditions ?? [] }));
}

/** The metrics of the server. Throws ApiError. */
export async function fetchMetrics(signal: AbortSignal): Promise<Metrics> {
  return parseMetrics(await (await open('/metrics', { accept: 'text/plain', signal })).text());
}
