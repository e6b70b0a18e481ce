// Conversions by somebody else in the middle of synchronous work (who owns the fields of an object is told in the versions of the owners): the
// work ends where it first needs one, which is then asked for, and begins anew with the answer at hand, until it needs no more.
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

/** Does work that converts by convertNow; it must change nothing that it finds again when it begins anew. */
export function convertAsNeeded<T>({ convertRemotely }: Resource, work: () => T): T | Promise<T> {
  return convertRemotely === undefined ? work() : beginAnew(convertRemotely, work);
}

async function beginAnew<T>(convertRemotely: NonNullable<Resource['convertRemotely']>, work: () => T): Promise<T> {
  const known: Answers = new Map();
  for (;;) {
    let needed: ConversionNeeded;
    try {
      answers = known;
      return work();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      needed = error;
    } finally {
      answers = undefined;
    }
    const { object, to } = needed;
    const [converted] = await convertRemotely([cloneJson(object)], to);
    known.set(questionOf(object, to), converted as KubeObject);
  }
}

type Owners = ReturnType<TrackUpdate>;

/** Owners after a write. Like the reference, a write goes on without any when they cannot be told because a conversion fails. */
export function trackOwners(resource: Resource, track: () => Owners): Owners | Promise<Owners> {
  const owners = convertAsNeeded(resource, track);
  return owners instanceof Promise ? owners.catch(forget) : owners;
}

function forget(error: unknown): undefined {
  if (!(error instanceof StatusError)) throw error;
}
