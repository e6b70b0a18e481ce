// Keeps the FlowSchemas and PriorityLevelConfigurations that every server has: what is missing is made, mandatory specs are restored,
// suggested ones follow the server unless their annotation says otherwise, and what the server suggested once and does no longer is
// removed. Says in the status of each FlowSchema whether its level exists. Mirrors the reference's flowcontrol post-start hook and the
// writing half of its config consumer; it looks at each change, where the reference looks once a minute.
import { type JsonObject, type KubeObject, equalJson } from '../../apimachinery/index.ts';
import { type SystemClient, WorkQueue, createSystemClient, formatTime, startReflector } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { type FlowControlDefault, AUTO_UPDATE_ANNOTATION, defaultLevels, defaultSchemas } from './defaults.ts';

const REPORTER = 'flow-control';

/** Writes that this server makes of the status of one schema within a minute: servers that disagree about it contend no faster than in the reference. */
const WRITES_IN_A_MINUTE = 6;
const MINUTE_MS = 60_000;

/** A text as Go reads booleans; undefined when it is none. */
function readFlag(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  return /^(?:1|t|T|true|TRUE|True)$/.test(text) ? true : /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined;
}

const isExemptLevel = ({ kind, metadata }: KubeObject): boolean => kind === 'PriorityLevelConfiguration' && metadata.name === 'exempt';

/** What an administrator says of the exempt level's shares is kept. */
function isExempt(level: KubeObject): boolean {
  const { type, exempt, limited } = (level['spec'] ?? {}) as JsonObject;
  return type === 'Exempt' && exempt !== undefined && limited === undefined;
}

/** An object as it should be: `current` itself when nothing is to be done. Without a valid annotation a spec that was never changed follows. */
function restoreDefault(current: KubeObject, { object, mandatory }: FlowControlDefault): KubeObject {
  const wish = readFlag(current.metadata.annotations?.[AUTO_UPDATE_ANNOTATION]);
  const follows = mandatory || (wish ?? current.metadata.generation === 1);
  const wanted = isExemptLevel(object) && isExempt(current) ? current['spec'] : object['spec'];
  const spec = follows && !equalJson(current['spec'], wanted) ? wanted : current['spec'];
  if (spec === current['spec'] && wish === follows) return current;
  // An annotation that says so in another spelling stays.
  if (wish === follows) return { ...current, spec };
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE_ANNOTATION]: String(follows) };
  return { ...current, metadata: { ...current.metadata, annotations }, spec };
}

function createUpkeep(context: ControllerContext, client: SystemClient, defaults: readonly FlowControlDefault[]): WorkQueue {
  const wanted = new Map(defaults.map((one) => [one.object.metadata.name as string, one]));
  return new WorkQueue({
    observer: context.observeQueue?.('flow_control'),
    clock: context.clock,
    concurrency: wanted.size,
    onError: (key, error) => context.report(REPORTER, key, error),
    async work(name) {
      const current = await client.get({ namespace: '', name });
      const one = wanted.get(name);
      if (current === undefined) {
        if (one !== undefined) await client.createIfAbsent('', structuredClone(one.object));
      } else if (one !== undefined) {
        if (restoreDefault(current, one) !== current) await client.update({ namespace: '', name }, '', (newest) => restoreDefault(newest, one));
      } else if (readFlag(current.metadata.annotations?.[AUTO_UPDATE_ANNOTATION]) === true) {
        const { uid, resourceVersion } = current.metadata;
        await client.remove({ namespace: '', name }, { preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) } });
      }
    },
  });
}

interface Condition extends JsonObject {
  readonly type: string;
  readonly status: string;
}

const levelOf = (schema: KubeObject): string =>
  ((schema['spec'] as JsonObject | undefined)?.['priorityLevelConfiguration'] as { name?: string } | undefined)?.name ?? '';

function describeReference(level: string, exists: boolean): Record<'status' | 'reason' | 'message', string> {
  const subject = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return exists ? { status: 'False', reason: 'Found', message: `${subject} and it exists` }
    : { status: 'True', reason: 'NotFound', message: `${subject} but there is no such object` };
}

/** What there is to say of a schema's level; undefined when the schema says it. */
function stateReference(schema: KubeObject, exists: boolean, now: string): JsonObject | undefined {
  const { conditions = [] } = (schema['status'] ?? {}) as { conditions?: Condition[] };
  const known = conditions.find(({ type }) => type === 'Dangling');
  const wanted = describeReference(levelOf(schema), exists);
  if (known !== undefined && known.status === wanted.status && known['reason'] === wanted.reason && known['message'] === wanted.message) return undefined;
  return { status: { conditions: [{ type: 'Dangling', status: wanted.status, lastTransitionTime: now, reason: wanted.reason, message: wanted.message }] } };
}

/** Starts at once. */
export function createFlowControl(context: ControllerContext): Controller {
  const schemas = createSystemClient(context, ['flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas'], 'api-priority-and-fairness-config-producer-v1');
  const marker = createSystemClient(context, ['flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas'], 'api-priority-and-fairness-config-consumer-v1');
  const levels = createSystemClient(context, ['flowcontrol.apiserver.k8s.io', 'v1', 'prioritylevelconfigurations'],
    'api-priority-and-fairness-config-producer-v1');
  const schemaUpkeep = createUpkeep(context, schemas, defaultSchemas);
  const levelUpkeep = createUpkeep(context, levels, defaultLevels);
  const knownSchemas = new Map<string, string>();
  const knownLevels = new Set<string>();
  /** By schema, when its status was written within the last minute. */
  const writes = new Map<string, readonly number[]>();
  const references = new WorkQueue({
    observer: context.observeQueue?.('flow_schema_references'),
    clock: context.clock,
    concurrency: 4,
    onError: (key, error) => context.report(REPORTER, key, error),
    async work(name) {
      const [nowMs, monotonicMs] = [context.clock.now(), context.clock.monotonicMs()];
      const recent = (writes.get(name) ?? []).filter((atMs) => monotonicMs - atMs < MINUTE_MS);
      const isFull = recent.length === WRITES_IN_A_MINUTE;
      let isWanted = false;
      await marker.apply({ namespace: '', name }, { subresource: 'status', nowMs }, (current) => {
        const status = stateReference(current, knownLevels.has(levelOf(current)), formatTime(nowMs));
        isWanted = status !== undefined;
        return isFull ? undefined : status;
      });
      if (isWanted && isFull) return MINUTE_MS - (monotonicMs - (recent[0] as number));
      if (knownSchemas.has(name)) writes.set(name, isWanted ? [...recent, monotonicMs] : recent);
    },
  });
  const shared = {
    registry: context.registry, clock: context.clock, onError: (error: unknown) => context.report(REPORTER, '', error),
  };
  const levelReflector = startReflector({
    ...shared, target: levels.target(''),
    onChange: (type, { name }) => {
      if (type === 'deleted') knownLevels.delete(name);
      else knownLevels.add(name);
      levelUpkeep.add(name);
      for (const [schema, level] of knownSchemas) if (level === name) references.add(schema);
    },
  });
  // Schemas are listed after the levels, so that none of them looks dangling at the start.
  const schemaReflector = levelReflector.synced.then(() => startReflector({
    ...shared, target: schemas.target(''),
    onChange: (type, version) => {
      schemaUpkeep.add(version.name);
      if (type === 'deleted') {
        knownSchemas.delete(version.name);
        writes.delete(version.name);
      } else {
        knownSchemas.set(version.name, levelOf(version.object('v1')));
        references.add(version.name);
      }
    },
  }));
  for (const { object } of defaultLevels) levelUpkeep.add(object.metadata.name as string);
  for (const { object } of defaultSchemas) schemaUpkeep.add(object.metadata.name as string);
  return {
    ready: () => schemaReflector.then((reflector) => reflector.synced),
    async stop() {
      levelReflector.stop();
      void schemaReflector.then((reflector) => reflector.stop());
      await Promise.all([schemaUpkeep.stop(), levelUpkeep.stop(), references.stop()]);
    },
  };
}
