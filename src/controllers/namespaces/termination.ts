// Empties a namespace that is being deleted, then lets it go: pods first and entirely, then everything else (upstream's ordered
// deletion); status.conditions say what remains. Only then is the `kubernetes` finalizer removed.
import { type KubeObject, type ObjectMeta, formatGroupResource } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import {
  type ReflectorListener, type Resource, type StoredObject, type SystemClient, WorkQueue, createClientOf, createSystemClient,
} from '../../registry/index.ts';
import type { AggregatedApis, AggregatedContent } from '../aggregation/availability.ts';
import { type Leftovers, describeProgress, mergeConditions } from './conditions.ts';
import type { ControllerContext } from '../context.ts';

const FINALIZER = 'kubernetes';
const MANAGER = 'kube-controller-manager';
/** Content with finalizers or grace is removed when its owner acts: the next look comes later each time. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 3000;
/** How long a count of what is left holds the event loop at a time. */
const SLICE_MS = 5;

/** Content of namespaces on other servers: while a group version is not known, no namespace is let go. */
type Elsewhere = Pick<AggregatedApis, 'listUndiscovered' | 'listContents'>;

interface TerminationContext extends ControllerContext {
  readonly aggregated: Elsewhere;
}

/** Acts on every namespace with a deletion timestamp. */
export function createNamespaceTermination(
  context: ControllerContext, aggregated: Elsewhere,
): { readonly onNamespace: ReflectorListener; stop(): Promise<void> } {
  const namespaces = createSystemClient(context, ['', 'v1', 'namespaces'], MANAGER);
  const looks = new Map<string, number>();
  const queue = new WorkQueue({
    observer: context.observeQueue?.('namespace'),
    clock: context.clock,
    concurrency: 4,
    onError: (key, error) => context.report('namespace', key, error),
    async work(name) {
      const done = await terminate({ ...context, aggregated }, namespaces, name);
      const count = looks.get(name) ?? 0;
      if (done) looks.delete(name);
      else looks.set(name, count + 1);
      return done ? undefined : Math.min(LAST_LOOK_MS, FIRST_LOOK_MS * 2 ** Math.min(count, 10));
    },
  });
  return {
    stop: () => queue.stop(),
    onNamespace(type, object) {
      if (type === 'present' && object.object('v1').metadata.deletionTimestamp !== undefined && !looks.has(object.name)) queue.add(object.name);
    },
  };
}

/** One look at a namespace; true when there is nothing more to do for it. */
async function terminate(context: TerminationContext, namespaces: SystemClient, name: string): Promise<boolean> {
  const namespace = await namespaces.get({ namespace: '', name });
  if (namespace?.metadata.deletionTimestamp === undefined || !listFinalizers(namespace).includes(FINALIZER)) return true;
  const leftovers = await emptyNamespace(context, name);
  await reportProgress(context, namespaces, { namespace, leftovers });
  if (leftovers.resources.size > 0 || leftovers.failures.length > 0 || leftovers.undiscovered.length > 0) return false;
  await namespaces.update({ namespace: '', name }, 'finalize', (current) => ({
    ...current, spec: { ...(current['spec'] as object | undefined), finalizers: listFinalizers(current).filter((one) => one !== FINALIZER) },
  }));
  return true;
}

function listFinalizers(namespace: KubeObject): readonly string[] {
  return (namespace['spec'] as { finalizers?: string[] } | undefined)?.finalizers ?? [];
}

async function emptyNamespace({ registry, catalog, aggregated, clock }: TerminationContext, namespace: string): Promise<Leftovers> {
  const leftovers: Leftovers = { resources: new Map(), finalizers: new Map(), failures: [], undiscovered: aggregated.listUndiscovered() };
  const all = catalog.resources().filter(isDeletable);
  const isPods = (row: Resource) => row.group === '' && row.plural === 'pods';
  const pause = createTimeSlice(clock, SLICE_MS);
  const contentOf = (row: Resource): Content => {
    const client = createClientOf(registry, row, MANAGER);
    const each = (where: string): AsyncIterable<Finalized> => listFinalized(client.each(where, pause));
    return { resource: row, objects: { each, deleteAll: (where, options) => client.deleteAll(where, options) } };
  };
  const others = [...all.filter((row) => !isPods(row)).map(contentOf), ...aggregated.listContents().map((each) => ({ resource: each, objects: each }))];
  for (const stage of [all.filter(isPods).map(contentOf), others]) {
    for (const content of stage) await emptyResource(content, namespace, leftovers);
    if (leftovers.resources.size > 0 || leftovers.failures.length > 0) break;
  }
  return leftovers;
}

const isDeletable = (row: Resource): boolean =>
  row.namespaced && row.storedAs === undefined && row.verbs.includes('list') && row.verbs.includes('delete');

/** The objects of one resource, here or on another server. */
interface Content {
  readonly resource: Pick<Resource, 'group' | 'plural'>;
  readonly objects: Pick<AggregatedContent, 'deleteAll'> & { each(namespace: string): AsyncIterable<Finalized> };
}

type Finalized = Pick<ObjectMeta, 'finalizers'>;

/** Of objects of this server nothing but the finalizers is parsed: a namespace may have a hundred thousand. */
async function* listFinalized(objects: AsyncIterable<StoredObject>): AsyncGenerator<Finalized> {
  for await (const object of objects) yield { finalizers: object.member('finalizers') ?? [] };
}

async function isEmpty(objects: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of objects) return false;
  return true;
}

async function emptyResource({ resource, objects }: Content, namespace: string, leftovers: Leftovers): Promise<void> {
  const label = formatGroupResource({ group: resource.group, resource: resource.plural });
  try {
    if (await isEmpty(objects.each(namespace))) return;
    await objects.deleteAll(namespace, { propagationPolicy: 'Background' });
    let remaining = 0;
    for await (const { finalizers = [] } of objects.each(namespace)) {
      remaining += 1;
      for (const one of finalizers) leftovers.finalizers.set(one, (leftovers.finalizers.get(one) ?? 0) + 1);
    }
    if (remaining > 0) leftovers.resources.set(`${resource.plural}.${resource.group}`, remaining);
  } catch (error) {
    leftovers.failures.push(`${label}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function reportProgress(
  { clock }: ControllerContext, namespaces: SystemClient, { namespace, leftovers }: { namespace: KubeObject; leftovers: Leftovers },
): Promise<void> {
  const conditions = describeProgress(leftovers);
  const merge = (current: KubeObject) => mergeConditions(current, conditions, clock.now());
  if (merge(namespace) === undefined) return;
  await namespaces.update({ namespace: '', name: namespace.metadata.name ?? '' }, 'status', (current) => merge(current) ?? current);
}
