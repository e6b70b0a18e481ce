// The parameters of a binding: objects of a built-in or custom kind, by name or by selector, read as requests of the server itself read them. What
// fails is a problem of the configuration, worded as upstream's CollectParams words it.
import { type KubeObject, type LabelSelector, labelSelectorOf, parseGroupVersion } from '../../apimachinery/index.ts';
import { type Catalog, type Registry, type Resource, type Target, buildPredicate, findKnown, versionIn } from '../../registry/index.ts';
import type { ParamKind, ParamRef } from './policy.ts';

/** A policy or a binding that cannot be used; the failure policy decides what that means. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Where parameters are read. */
export interface ParamReads {
  readonly registry: () => Pick<Registry, 'get' | 'list'>;
  readonly catalog: Pick<Catalog, 'findKind'>;
}

/** A parameter; `key` identifies it among its kind. No object: the policy is evaluated once, without parameters. */
export interface Param {
  readonly key: string;
  readonly object: KubeObject | undefined;
}

const without: readonly Param[] = [{ key: '', object: undefined }];

/** The row and version of a kind of parameters. Throws ConfigurationError when it is not served. */
export function findParamKind({ apiVersion, kind }: ParamKind, catalog: ParamReads['catalog']): { readonly resource: Resource; readonly version: string } {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const resource = catalog.findKind(group, kind);
  if (resource === undefined || versionIn(resource, version)?.served !== true) {
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
  }
  return { resource, version };
}

/** Where the parameters of a binding are. */
function locate(ref: ParamRef, { resource, version }: ReturnType<typeof findParamKind>, requestNamespace: string): Target {
  if (!resource.namespaced) {
    if (ref.namespace) throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return { resource, version, namespace: '' };
  }
  const namespace = ref.namespace || requestNamespace;
  if (namespace === '') throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return { resource, version, namespace };
}

async function readByName(target: Target, name: string, { registry }: ParamReads): Promise<readonly Param[]> {
  const found = await findKnown(registry(), { ...target, name });
  return found === undefined ? [] : [{ key: `${target.namespace}/${name}`, object: found.object(target.version) }];
}

async function readBySelector(target: Target, selector: LabelSelector, { registry }: ParamReads): Promise<readonly Param[]> {
  const list = await registry().list(target, { predicate: buildPredicate(target.resource, { labels: selector }), resourceVersion: '0' });
  return Array.from(list.items, (item) => ({ key: `${item.namespace}/${item.name}`, object: item.object(target.version) }));
}

interface ParamQuestion {
  readonly paramKind: ParamKind | undefined;
  readonly paramRef: ParamRef | undefined;
  /** Namespace of the request, '' outside of namespaces. */
  readonly namespace: string;
}

/** The parameters that a policy is evaluated with, once for each: none when there are none and that is allowed. Throws ConfigurationError. */
export async function readParams({ paramKind, paramRef, namespace }: ParamQuestion, reads: ParamReads): Promise<readonly Param[]> {
  if (paramKind === undefined || paramRef === undefined) return without;
  const target = locate(paramRef, findParamKind(paramKind, reads.catalog), namespace);
  const { name, selector } = paramRef;
  const selected = labelSelectorOf(selector);
  if (!name && selected === undefined) throw new ConfigurationError('one of name or selector must be provided');
  const found = await (name ? readByName(target, name, reads) : readBySelector(target, selected as LabelSelector, reads));
  if (found.length > 0 || paramRef.parameterNotFoundAction !== 'Deny') return found;
  throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
}
