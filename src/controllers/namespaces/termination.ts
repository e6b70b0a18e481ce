// Empties a namespace that is being deleted, then lets it go: pods first and entirely, then everything else (upstream's ordered
// deletion); status.conditions say what remains. Only then is the `kubernetes` finalizer removed.
import { type KubeObject, formatGroupResource } from '../../apimachinery/index.ts';
import { type ReflectorListener, type Resource, type SystemClient, WorkQueue, createClientOf, createSystemClient } from '../../registry/index.ts';
import type { AggregatedApis, AggregatedContent } from '../aggregation/availability.ts';
import { type Leftovers, describeProgress, mergeConditions } from './conditions.ts';
import type { ControllerContext } from '../context.ts';

const FINALIZER = 'kubernetes';
const MANAGER = 'kube-controller-manager';
/** Content with finalizers or grace is removed when its owner acts: the next look comes later each time. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 3000;

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

async function emptyNamespace({ registry, catalog, aggregated }: TerminationContext, namespace: string): Promise<Leftovers> {
  const leftovers: Leftovers = { resources: new Map(), finalizers: new Map(), failures: [], undiscovered: aggregated.listUndiscovered() };
  const all = catalog.resources().filter(isDeletable);
  const isPods = (row: Resource) => row.group === '' && row.plural === 'pods';
  const contentOf = (row: Resource): Content => ({ resource: row, objects: createClientOf(registry, row, MANAGER) });
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
  readonly objects: Pick<AggregatedContent, 'list' | 'deleteAll'>;
}

async function emptyResource({ resource, objects }: Content, namespace: string, leftovers: Leftovers): Promise<void> {
  const label = formatGroupResource({ group: resource.group, resource: resource.plural });
  try {
    if ((await objects.list(namespace)).length === 0) return;
    await objects.deleteAll(namespace, { propagationPolicy: 'Background' });
    const remaining = await objects.list(namespace);
    if (remaining.length > 0) leftovers.resources.set(`${resource.plural}.${resource.group}`, remaining.length);
    for (const object of remaining) {
      for (const one of object.metadata.finalizers ?? []) leftovers.finalizers.set(one, (leftovers.finalizers.get(one) ?? 0) + 1);
    }
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
