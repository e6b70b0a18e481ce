// Remote conversions in the middle of synchronous work (each owner of fields is compared in a version of its own): the work ends where it first
// needs one, which is then asked for, and starts over with the answer at hand, until it needs no more.
import { type KubeObject, StatusError, parseGroupVersion } from '../../apimachinery/index.ts';
import { encodeJson } from '../../codec/index.ts';
import type { TrackUpdate } from '../contract.ts';
import type { Resource } from '../resource.ts';
import { cloneJson } from '../values.ts';

class ConversionNeeded extends Error {
  readonly object: KubeObject;
  readonly to: string;

  constructor(object: KubeObject, to: string) {
    super(`a conversion to ${to} is needed`);
    this.object = object;
    this.to = to;
  }
}

type Answers = Map<string, KubeObject>;

/** Set while one attempt runs, which is within one turn. */
let answers: Answers | undefined;

const questionOf = (object: KubeObject, to: string): string => `${to} ${Buffer.from(encodeJson(object)).toString('latin1')}`;

/** An object in another version of its row. */
export function convertNow(resource: Resource, object: KubeObject, to: string): KubeObject {
  const from = parseGroupVersion(object.apiVersion ?? '')?.version ?? '';
  if (resource.convertRemotely === undefined || from === to) return resource.convert?.(object, from, to) ?? object;
  const known = answers?.get(questionOf(object, to));
  if (known === undefined) throw new ConversionNeeded(object, to);
  return cloneJson(known);
}

/** Does work that converts by convertNow; it must change nothing that it finds again when it starts over. */
export async function convertAsNeeded<T>({ convertRemotely }: Resource, work: () => T): Promise<T> {
  if (convertRemotely === undefined) return work();
  const known: Answers = new Map();
  for (;;) {
    const result = attempt(known, work);
    if (result.type === 'done') return result.value;
    const { object, to } = result.needed;
    const [converted] = await convertRemotely([cloneJson(object)], to);
    known.set(questionOf(object, to), converted as KubeObject);
  }
}

type Attempt<T> = { readonly type: 'done'; readonly value: T } | { readonly type: 'incomplete'; readonly needed: ConversionNeeded };

/** Runs the work with the answers at hand, in one turn. */
function attempt<T>(known: Answers, work: () => T): Attempt<T> {
  try {
    answers = known;
    return { type: 'done', value: work() };
  } catch (error) {
    if (!(error instanceof ConversionNeeded)) throw error;
    return { type: 'incomplete', needed: error };
  } finally {
    answers = undefined;
  }
}

type Owners = ReturnType<TrackUpdate>;

/** Owners after a write. Like the reference, a write continues without any when a conversion that they need fails. */
export async function trackOwners(resource: Resource, track: () => Owners): Promise<Owners> {
  try {
    return await convertAsNeeded(resource, track);
  } catch (error) {
    if (resource.convertRemotely === undefined || !(error instanceof StatusError)) throw error;
    return undefined;
  }
}
