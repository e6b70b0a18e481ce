// Where manifests are evaluated: on a server in memory, which takes them, or in a cluster, by dry runs.
import { type ApiRequest, type ApiResponse, type Discovery, discover } from '../../client/index.ts';
import { createTestServer } from '../test-server.ts';
import type { Manifests } from '../manifests/documents.ts';

/** A server that evaluates. */
export interface Target {
  /** Asks as the user of the evaluation. */
  ask(request: ApiRequest): Promise<ApiResponse>;
  /** Asks as the administrator; the same user in a cluster. */
  askAll(request: ApiRequest): Promise<ApiResponse>;
  /** Nothing is written. */
  readonly isDry: boolean;
  /** The resources of this moment. */
  discover(): Promise<Discovery>;
  /** Resolves when what follows from all writes is done. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** What a server in memory begins with. */
export interface MemoryStart {
  readonly snapshot: string;
  readonly encryptionProviderConfig: string;
  /** Objects that are there already. */
  readonly base: Manifests;
  readonly namespaces: readonly string[];
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
}

/** Webhooks are elsewhere, and may have effects. */
const unaskedPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'] as const;
/** Versions differ by their name alone, as far as can be known without the conversion webhook. */
const keepFields = <T>(object: T): T => object;

/** A server in memory. Rejects with ManifestError or ApiError for a base that it refuses. */
export async function createMemoryTarget(start: MemoryStart): Promise<Target> {
  const server = await createTestServer({
    tls: false, ...(start.snapshot !== '' && { snapshot: start.snapshot }), conversions: { '*': keepFields },
    server: { disableAdmissionPlugins: [...unaskedPlugins], encryptionProviderConfig: start.encryptionProviderConfig },
  });
  try {
    const known = new Set((await server.list('namespaces')).map(({ metadata }) => metadata?.name));
    const namespaces = start.namespaces.filter((name) => !known.has(name));
    await server.apply(namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
    await server.apply(start.base);
    await server.settle();
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    isDry: false,
    ask: (request) => server.request({ ...request, ...(start.user !== undefined && { user: start.user }) }),
    askAll: (request) => server.request(request),
    discover: () => discover((request) => server.request(request)),
    settle: () => server.settle(),
    close: () => server.close(),
  };
}
