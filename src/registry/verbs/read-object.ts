// The object that a write works on, read from what is stored.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Clock, type MaybePromise, createTimeSlice, resumableSteps, runStepsInSlices } from '../../base/index.ts';
import type { StoredObject, Target } from '../contract.ts';
import type { Core, RequestScope } from '../core.ts';
import type { StoredRevision } from '../objects/stored-object.ts';

/** Objects of more bytes are read in turns of their own: the request that brought the next state may have taken a long one. */
const LARGE_BYTES = 262_144;
const STEP_MS = 3;

/** What a write has found. */
interface Found {
  readonly core: Core;
  readonly scope: RequestScope;
  readonly key: string;
  readonly current: StoredRevision;
}

/** Whether a write reads and encodes the object in several turns. */
export const isLarge = ({ size }: StoredObject): boolean => size > LARGE_BYTES;

/** The object in a version of the row that the request names, or of the one that stores it; it must not be changed. A large one takes several turns. */
export function readFound({ core, scope: { show }, key, current }: Found, form: Pick<Target, 'resource' | 'version'>): MaybePromise<KubeObject> {
  const known = core.hot.get(key, form, current.revision);
  if (known !== undefined) return known;
  const stored = form.resource === current.resource ? current : show(current);
  if (!isLarge(stored)) return stored.object(form.version);
  const nextTurn = new Promise((resolve) => setImmediate(resolve));
  return nextTurn.then(() => runInTurns(core.clock, () => stored.object(form.version)));
}

/** Brings a large object that another process wrote into the form of its row, in several turns; what is read of it afterwards needs no such walk. */
export async function settleFound({ core, current }: Pick<Found, 'core' | 'current'>): Promise<void> {
  const steps = isLarge(current) ? current.settle() : undefined;
  if (steps !== undefined) await runStepsInSlices(steps, createTimeSlice(core.clock, STEP_MS));
}

/** Does resumable work on a large object: each of its steps may take long, and most are followed by a turn for others. */
export const runInTurns = <T>(clock: Clock, work: () => T): Promise<T> => runStepsInSlices(resumableSteps(work), createTimeSlice(clock, STEP_MS));
