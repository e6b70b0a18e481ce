// Admission written in TypeScript: hooks that run in the server's own process, after the built-in plugins and before policies and webhooks. A hook
// sees what an admission webhook would be sent, typed by the kind that it asks for, and refuses in the same words.
import { type KubeObject, type Status, StatusError, internalError } from '../apimachinery/index.ts';
import { type AdmissionAttributes, type User, cloneJson, copySharing } from '../registry/index.ts';
import type { AdmissionPlugin } from './chain.ts';
import { refuseBy } from './webhooks/failures.ts';

/** Which requests a hook is called for; a list that is absent or empty lets everything pass. */
export interface AdmissionMatch {
  /** `pods`, `deployments.apps`, `pods/binding`, `*`, `*.example.com`. */
  readonly resources?: readonly string[];
  /** CREATE and UPDATE unless others are named. */
  readonly operations?: readonly AdmissionAttributes['operation'][];
  readonly namespaces?: readonly string[];
}

/** One request as a hook sees it. */
export interface HookRequest<T = KubeObject> {
  readonly operation: AdmissionAttributes['operation'];
  readonly group: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun: boolean;
  readonly user: User;
  /** The object to write: `mutate` changes it in place, `validate` gets a copy; undefined for DELETE. */
  readonly object: T | undefined;
  /** The stored object of an UPDATE or a DELETE. */
  readonly oldObject: T | undefined;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Refuses the request: throws. The code is 403 unless another one from 400 on is given. */
  deny(message: string, options?: { readonly code?: number; readonly reason?: string }): never;
}

/** A hook; `T` is the type of the objects that its `match` selects. */
export interface AdmissionHook<T = KubeObject> {
  readonly name: string;
  readonly match?: AdmissionMatch;
  mutate?(request: HookRequest<T>): void | Promise<void>;
  validate?(request: HookRequest<T>): void | Promise<void>;
}

/** Gives a hook the type of its objects; returns it as the server takes it. */
export const defineAdmission = <T = KubeObject>(hook: AdmissionHook<T>): AdmissionHook => hook as unknown as AdmissionHook;

const defaultOperations: readonly AdmissionAttributes['operation'][] = ['CREATE', 'UPDATE'];

function matchesResource(pattern: string, { resource: { plural, group }, subresource }: AdmissionAttributes): boolean {
  const [path = '', part = ''] = pattern.split('/');
  const dot = path.indexOf('.');
  const [name, wantedGroup] = dot === -1 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)];
  const isGroup = wantedGroup === undefined ? path === '*' || group === '' : group === wantedGroup;
  return isGroup && (name === '*' || name === plural) && (part === '*' || part === subresource);
}

const passes = <V>(allowed: readonly V[] | undefined, test: (value: V) => boolean): boolean => allowed === undefined || allowed.length === 0
  || allowed.some(test);

function matches({ resources, operations = defaultOperations, namespaces }: AdmissionMatch, attributes: AdmissionAttributes): boolean {
  return operations.includes(attributes.operation) && passes(resources, (pattern) => matchesResource(pattern, attributes))
    && passes(namespaces, (namespace) => namespace === attributes.namespace);
}

function describe(hook: string, attributes: AdmissionAttributes, object: KubeObject | undefined): HookRequest {
  const { operation, resource, version, subresource, namespace, name, context, oldObject } = attributes;
  return {
    operation, group: resource.group, apiVersion: version, resource: resource.plural, subresource, namespace, name, dryRun: context.dryRun, user: context.user,
    object, oldObject: oldObject === undefined ? undefined : cloneJson(oldObject),
    warn: (text) => void context.warnings.push(text),
    deny(message, { code = 403, reason = code === 403 ? 'Forbidden' : '' } = {}) {
      throw refuseBy(hook, { message, code, ...(message !== '' && { reason }) } as Partial<Status>);
    },
  };
}

/** Runs a part of a hook; an error that is no refusal fails the request, as a webhook does that cannot be called. */
async function call(name: string, run: () => void | Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw internalError(`failed calling webhook "${name}": ${(error as Error).message}`);
  }
}

/** Gives a hook an object that it may change in any part: an update shares parts of its object with the one that it replaces, and does so again after. */
async function runOnCopy(attributes: AdmissionAttributes, run: (object: KubeObject | undefined) => void | Promise<void>): Promise<void> {
  const { object } = attributes;
  const copy = object && cloneJson(object);
  await run(copy);
  attributes.object = copy && copySharing(copy, object);
}

/** A hook as a plugin of the chain. */
export function createInProcessPlugin(hook: AdmissionHook): AdmissionPlugin {
  const { name, match = {}, mutate, validate } = hook;
  return {
    name,
    handles: (attributes) => matches(match, attributes),
    ...(mutate !== undefined && {
      mutate: (attributes) => call(name, () => runOnCopy(attributes, (object) => mutate.call(hook, describe(name, attributes, object)))),
    }),
    ...(validate !== undefined && {
      validate: (attributes) => call(name, () => validate.call(hook, describe(name, attributes, attributes.object && cloneJson(attributes.object)))),
    }),
  };
}
