// Columns of Pods. The status column is not the phase: it combines phase, reason, init progress and container states, in the form that
// users of kubectl recognize (`Init:1/2`, `CrashLoopBackOff`, `Completed`, `Terminating`).
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import type { Column, TableRowCondition } from '../../../registry/index.ts';
import { ageColumn, column, nameColumn, textOr, wideColumn } from '../../common/columns/columns.ts';
import { formatAge } from '../../common/columns/duration.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../../common/values.ts';

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  /** When a container last ended before a restart; '' when none did. */
  readonly lastRestart: string;
}

/** Restarts of a group of containers and the latest end among them. */
class RestartCount {
  total = 0;
  last = '';
  add(container: JsonObject): void {
    this.total += toNumber(container['restartCount']);
    const finished = toText(readPath(container, 'lastState', 'terminated', 'finishedAt'));
    if (finished > this.last) this.last = finished;
  }
}

interface ContainerResult {
  reason: string;
  ready: number;
  readonly restarts: RestartCount;
}

const isTerminal = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

function hasTrueCondition(status: JsonObject, type: string): boolean {
  return toObjects(status['conditions']).some((condition) => condition['type'] === type && condition['status'] === 'True');
}

/** `Signal:9` or `ExitCode:1`, for containers that ended without a reason. */
function formatEnd(terminated: JsonObject): string {
  const signal = toNumber(terminated['signal']);
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${toNumber(terminated['exitCode'])}`;
}

/** The reason for which an init container keeps the pod initializing; undefined when it does not. */
function findInitProblem(container: JsonObject, position: string): string | undefined {
  const terminated = readPath(container, 'state', 'terminated');
  if (terminated !== undefined) {
    if (toNumber(readPath(terminated, 'exitCode')) === 0) return undefined;
    return `Init:${toText(readPath(terminated, 'reason')) || formatEnd(toObject(terminated))}`;
  }
  const waiting = toText(readPath(container, 'state', 'waiting', 'reason'));
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}`;
}

interface InitResult extends ContainerResult {
  /** An init container is not done. */
  initializing: boolean;
  readonly sidecarRestarts: RestartCount;
  readonly sidecars: number;
}

function readInitContainers(spec: JsonObject, status: JsonObject): InitResult {
  const declared = toObjects(spec['initContainers']);
  const sidecars = new Set(declared.filter((container) => container['restartPolicy'] === 'Always').map((container) => toText(container['name'])));
  const result: InitResult = {
    reason: '', ready: 0, restarts: new RestartCount(), initializing: false, sidecarRestarts: new RestartCount(), sidecars: sidecars.size,
  };
  for (const [index, container] of toObjects(status['initContainerStatuses']).entries()) {
    const isSidecar = sidecars.has(toText(container['name']));
    result.restarts.add(container);
    if (isSidecar) result.sidecarRestarts.add(container);
    const endedWell = readPath(container, 'state', 'terminated') !== undefined && toNumber(readPath(container, 'state', 'terminated', 'exitCode')) === 0;
    if (!endedWell && isSidecar && container['started'] === true) {
      if (container['ready'] === true) result.ready++;
      continue;
    }
    const problem = findInitProblem(container, `${index}/${declared.length}`);
    if (problem === undefined) continue;
    result.reason = problem;
    result.initializing = true;
    break;
  }
  return result;
}

/** The reason that one container contributes; undefined when it runs or has none. */
function readContainerReason(container: JsonObject): string | undefined {
  const waiting = toText(readPath(container, 'state', 'waiting', 'reason'));
  if (waiting !== '') return waiting;
  const terminated = readPath(container, 'state', 'terminated');
  if (terminated === undefined) return undefined;
  return toText(readPath(terminated, 'reason')) || formatEnd(toObject(terminated));
}

/** From the last container to the first, so that the reason of the first one wins. */
function readContainers(status: JsonObject, reason: string, restarts: RestartCount): ContainerResult {
  const result: ContainerResult = { reason, ready: 0, restarts };
  let isRunning = false;
  for (const container of [...toObjects(status['containerStatuses'])].reverse()) {
    restarts.add(container);
    const said = readContainerReason(container);
    if (said !== undefined) {
      result.reason = said;
    } else if (container['ready'] === true && readPath(container, 'state', 'running') !== undefined) {
      isRunning = true;
      result.ready++;
    }
  }
  if (result.reason === 'Completed' && isRunning) result.reason = hasTrueCondition(status, 'Ready') ? 'Running' : 'NotReady';
  return result;
}

function summarizePod(object: KubeObject): PodSummary {
  const spec = toObject(object['spec']);
  const status = toObject(object['status']);
  const phase = toText(status['phase']);
  const isGated = toObjects(status['conditions']).some((c) => c['type'] === 'PodScheduled' && c['reason'] === 'SchedulingGated');
  let reason = isGated ? 'SchedulingGated' : textOr(status['reason'], phase);
  const init = readInitContainers(spec, status);
  let { ready, restarts } = init;
  if (init.initializing) reason = init.reason;
  if (!init.initializing || hasTrueCondition(status, 'Initialized')) {
    const main = readContainers(status, reason, init.sidecarRestarts);
    ready += main.ready;
    ({ reason, restarts } = main);
  }
  if (object.metadata?.deletionTimestamp !== undefined) {
    if (status['reason'] === 'NodeLost') reason = 'Unknown';
    else if (!isTerminal(phase)) reason = 'Terminating';
  }
  return { ready, total: toObjects(spec['containers']).length + init.sidecars, status: reason, restarts: restarts.total, lastRestart: restarts.last };
}

function formatRestarts(object: KubeObject, nowMs: number): string {
  const { restarts, lastRestart } = summarizePod(object);
  return restarts !== 0 && lastRestart !== '' ? `${restarts} (${formatAge(lastRestart, nowMs)} ago)` : String(restarts);
}

function formatReadinessGates(object: KubeObject): string {
  const gates = toObjects(readPath(object, 'spec', 'readinessGates'));
  if (gates.length === 0) return '<none>';
  const status = toObject(object['status']);
  return `${gates.filter((gate) => hasTrueCondition(status, toText(gate['conditionType']))).length}/${gates.length}`;
}

/** Columns of pods. */
export const podColumns: readonly Column[] = [
  nameColumn,
  column('Ready', (object) => {
    const { ready, total } = summarizePod(object);
    return `${ready}/${total}`;
  }),
  column('Status', (object) => summarizePod(object).status),
  column('Restarts', formatRestarts),
  ageColumn,
  wideColumn('IP', (object) => textOr(toObjects(readPath(object, 'status', 'podIPs'))[0]?.['ip'], '<none>')),
  wideColumn('Node', (object) => textOr(readPath(object, 'spec', 'nodeName'), '<none>')),
  wideColumn('Nominated Node', (object) => textOr(readPath(object, 'status', 'nominatedNodeName'), '<none>')),
  wideColumn('Readiness Gates', formatReadinessGates),
];

/** The conditions of the row of a finished pod. */
export function readPodConditions(object: KubeObject): readonly TableRowCondition[] {
  const phase = toText(readPath(object, 'status', 'phase'));
  if (!isTerminal(phase)) return [];
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.';
  return [{ type: 'Completed', status: 'True', reason: phase, message }];
}
