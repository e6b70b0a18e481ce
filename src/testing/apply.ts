// Server-side apply of many objects, in an order in which each finds what it needs: definitions, namespaces, the rest, what intercepts writes last.
import type { KubernetesObject, LocalClient } from '../client/index.ts';
import { type Located, locate, pathOf, showReference } from './objects.ts';
import { ManifestError } from './manifests/documents.ts';
import { type Catalog, subresourcesIn } from '../registry/index.ts';

const MANAGER = 'pintle-testing';
const order: Readonly<Record<string, number>> = {
  CustomResourceDefinition: 0, Namespace: 1, MutatingWebhookConfiguration: 3, ValidatingWebhookConfiguration: 3, MutatingAdmissionPolicy: 3,
  ValidatingAdmissionPolicy: 3, MutatingAdmissionPolicyBinding: 4, ValidatingAdmissionPolicyBinding: 4, APIService: 4,
};
const placeOf = ({ kind = '' }: KubernetesObject): number => order[kind] ?? 2;

/** What an apply works with. */
interface ApplyParts {
  readonly client: LocalClient;
  readonly catalog: Catalog;
  /** Tries until it does not throw. */
  readonly eventually: <T>(attempt: () => T | Promise<T>) => Promise<T>;
}

/** Applies objects as one manager, in force, with their statuses; answers what they became, in the order in which they were given. */
export async function applyObjects(objects: readonly KubernetesObject[], parts: ApplyParts): Promise<KubernetesObject[]> {
  const applied = new Map<KubernetesObject, KubernetesObject>();
  const sorted = [...objects].sort((a, b) => placeOf(a) - placeOf(b));
  for (const object of sorted) {
    if (placeOf(object) > 0) await awaitKinds(applied, parts);
    applied.set(object, await applyOne(object, parts));
  }
  await awaitKinds(applied, parts);
  return objects.map((object) => applied.get(object) as KubernetesObject);
}

/** Definitions are asked for until their kinds are served. */
async function awaitKinds(applied: Map<KubernetesObject, KubernetesObject>, { client, catalog, eventually }: ApplyParts): Promise<void> {
  for (const [given, object] of applied) {
    if (object.kind !== 'CustomResourceDefinition' || isEstablished(object)) continue;
    applied.set(given, await eventually(async () => {
      const at = locate(catalog, object);
      const now = at === undefined ? object : await client.read('GET', pathOf(at));
      if (!isEstablished(now)) throw new ManifestError(`${object.metadata?.name} is not established: ${JSON.stringify(now['status']?.conditions)}`);
      return now;
    }));
  }
}

const isEstablished = (definition: KubernetesObject): boolean =>
  (definition['status']?.conditions as { type: string; status: string }[] | undefined)?.some(({ type, status }) => type === 'Established' && status === 'True')
    ?? false;

async function applyOne(object: KubernetesObject, { client, catalog }: ApplyParts): Promise<KubernetesObject> {
  const at = locate(catalog, object);
  if (at === undefined) throw new ManifestError(`no resource is served for ${object.apiVersion} ${showReference(object)}`);
  if (at.name === '') return client.read('POST', pathOf(at), object);
  const { status, ...body } = object;
  const applied = await client.read('PATCH', `${pathOf(at)}?fieldManager=${MANAGER}&force=true`, body);
  if (status === undefined || !hasStatus(at) || object.kind === 'CustomResourceDefinition') return applied;
  const { apiVersion, kind } = object;
  const metadata = { name: at.name, ...(at.namespace !== '' && { namespace: at.namespace }) };
  return client.read('PATCH', `${pathOf(at)}/status?fieldManager=${MANAGER}&force=true`, { apiVersion, kind, metadata, status });
}

const hasStatus = ({ resource, version }: Located): boolean =>
  subresourcesIn(resource, version).some(({ name }) => name === 'status');
