// The operations of a group version as data, made from the catalog's resources; the documents of OpenAPI v2 and v3 are written from them.
import type { GroupVersionKind } from '../../apimachinery/index.ts';
import { type Catalog, type Resource, type Subresource, subresourcesIn } from '../../registry/index.ts';
import { resourcesOf } from '../discovery/discovery-data.ts';
import {
  JSON_PATCH_TYPE, JSON_TYPE, MERGE_PATCH_TYPE, type Media, plainMedia, STRATEGIC_PATCH_TYPE, YAML_TYPE,
} from '../request/media.ts';

/** Which parameters an operation takes. */
export type ParameterSet = 'list' | 'get' | 'write' | 'patch' | 'delete' | 'none';

/** One method of one path. */
export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options';
  readonly id: string;
  readonly tag: string;
  /** x-kubernetes-action; absent for documents. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  /** Media types of request bodies; undefined where even v2 lists none. */
  readonly consumes: readonly string[] | undefined;
  readonly produces: readonly string[];
  readonly parameters: ParameterSet;
  /** The kind of the body. */
  readonly body?: BodyKind;
  /** The kind of the answer; `text` for connections. */
  readonly answer: BodyKind | 'text';
  readonly statuses: readonly string[];
}

/** A body: an object of a kind, its list, a meta type by its short name, or a definition by its whole name. */
export type BodyKind = GroupVersionKind | { readonly meta: MetaKind } | { readonly definition: string };
type MetaKind =
  'DeleteOptions' | 'Patch' | 'Status' | 'WatchEvent' | 'APIResourceList' | 'APIGroup' | 'APIGroupList' | 'APIVersions';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface ResourceContext extends GroupVersion {
  readonly resource: Resource;
  /** `/apis/apps/v1`. */
  readonly root: string;
  /** `AppsV1`. */
  readonly prefix: string;
  readonly tag: string;
  readonly kind: GroupVersionKind;
  readonly media: Media;
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `rbacAuthorization` for `rbac.authorization.k8s.io`; words of a name are joined. */
function groupWord(group: string): string {
  const words = (group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).split(/[.-]/);
  return words.map((word, index) => (index === 0 ? word : capitalize(word))).join('');
}

/** The root path of a group version. */
function rootOf({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function produces({ resource, media }: ResourceContext, stream = false): readonly string[] {
  if (resource.custom) return [JSON_TYPE, YAML_TYPE];
  return stream ? media.collectionTypes : media.objectTypes;
}

function common(context: ResourceContext, kind: GroupVersionKind = context.kind) {
  return { tag: context.tag, kind, produces: produces(context) };
}

/** Names of the parts of operation ids: `NamespacedDeployment` or `Node`. */
const scoped = ({ resource }: ResourceContext): string => (resource.namespaced ? `Namespaced${resource.kind}` : resource.kind);

function collectionOperations(context: ResourceContext): Operation[] {
  const { resource, root, prefix, kind } = context;
  const path = resource.namespaced ? `${root}/namespaces/{namespace}/${resource.plural}` : `${root}/${resource.plural}`;
  const list = { ...kind, kind: resource.listKind };
  const out: Operation[] = [];
  const readsAs = { ...common(context), produces: produces(context, true), parameters: 'list', answer: list, statuses: ['200', '401'], consumes: [] } as const;
  if (resource.verbs.includes('list')) out.push({ ...readsAs, path, method: 'get', id: `list${prefix}${scoped(context)}`, action: 'list' });
  if (resource.verbs.includes('create')) {
    out.push({
      ...common(context), path, method: 'post', id: `create${prefix}${scoped(context)}`, action: 'post', parameters: 'write', consumes: ['*/*'],
      body: kind, answer: kind, statuses: ['200', '201', '202', '401'],
    });
  }
  if (resource.verbs.includes('deletecollection')) {
    out.push({
      ...common(context), path, method: 'delete', id: `delete${prefix}Collection${scoped(context)}`, action: 'deletecollection', parameters: 'list',
      consumes: ['*/*'], ...(!resource.custom && { body: { meta: 'DeleteOptions' } as const }), answer: { meta: 'Status' }, statuses: ['200', '401'],
    });
  }
  if (resource.namespaced && resource.verbs.includes('list')) {
    out.push({ ...readsAs, path: `${root}/${resource.plural}`, method: 'get', id: `list${prefix}${resource.kind}ForAllNamespaces`, action: 'list' });
  }
  return out;
}

/** Whether a delete answers the object. */
function deleteAnswer({ resource, kind }: ResourceContext): BodyKind {
  // Deleting a namespace answers the namespace, but upstream publishes a Status.
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  return resource.returnsDeleted && !resource.custom && !isNamespace ? kind : { meta: 'Status' };
}

/** get, put, post, patch and delete of a path that has these verbs. */
function objectOperations(context: ResourceContext, place: { path: string; suffix: string; verbs: readonly string[]; kind: GroupVersionKind }): Operation[] {
  const { resource, prefix } = context;
  const { path, suffix, verbs, kind } = place;
  // Operations on the scale of a custom kind name the custom kind.
  const base = common(context, resource.custom ? context.kind : kind);
  const name = `${prefix}${scoped(context)}${suffix}`;
  const patches = resource.custom ? [] : [STRATEGIC_PATCH_TYPE];
  const out: Operation[] = [];
  if (verbs.includes('get')) {
    out.push({ ...base, path, method: 'get', id: `read${name}`, action: 'get', parameters: resource.custom ? 'get' : 'none', consumes: [], answer: kind,
      statuses: ['200', '401'] });
  }
  if (verbs.includes('update')) {
    out.push({ ...base, path, method: 'put', id: `replace${name}`, action: 'put', parameters: 'write', consumes: ['*/*'], body: kind, answer: kind,
      statuses: ['200', '201', '401'] });
  }
  if (verbs.includes('create')) {
    const statuses = ['200', '201', '202', '401'];
    out.push({ ...base, path, method: 'post', id: `create${name}`, action: 'post', parameters: 'write', consumes: ['*/*'], body: kind, answer: kind,
      statuses });
  }
  if (verbs.includes('delete')) {
    out.push({
      ...base, path, method: 'delete', id: `delete${name}`, action: 'delete', parameters: 'delete', consumes: ['*/*'], body: { meta: 'DeleteOptions' },
      answer: deleteAnswer(context), statuses: ['200', '202', '401'],
    });
  }
  if (verbs.includes('patch')) {
    out.push({
      ...base, path, method: 'patch', id: `patch${name}`, action: 'patch', parameters: 'patch', body: { meta: 'Patch' }, answer: kind,
      // Upstream publishes no 201 for patches of custom kinds, although apply creates them.
      statuses: resource.custom ? ['200', '401'] : ['200', '201', '401'],
      consumes: [JSON_PATCH_TYPE, MERGE_PATCH_TYPE, ...patches, ...(resource.custom ? plainMedia : context.media).applyTypes],
    });
  }
  return out;
}

const connectMethods: Readonly<Record<string, readonly Operation['method'][]>> = {
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
};

function connectOperations(context: ResourceContext, path: string, subresource: Subresource): Operation[] {
  const { prefix } = context;
  const kind = subresource.kind ?? context.kind;
  const methods = connectMethods[subresource.name] ?? ['get', 'post'];
  const paths = subresource.name === 'proxy' ? [[path, ''], [`${path}/{path}`, 'WithPath']] as const : [[path, '']] as const;
  return paths.flatMap(([at, suffix]) => methods.map((method) => ({
    path: at, method, id: `connect${prefix}${capitalize(method)}${scoped(context)}${capitalize(subresource.name)}${suffix}`, tag: context.tag,
    action: 'connect', kind, consumes: [], produces: ['*/*'], parameters: 'none', answer: 'text', statuses: ['200', '401'],
  }) satisfies Operation));
}

function subresourceOperations(context: ResourceContext, objectPath: string): Operation[] {
  return subresourcesIn(context.resource, context.version).flatMap((subresource) => {
    const path = `${objectPath}/${subresource.name}`;
    if (subresource.connect) return connectOperations(context, path, subresource);
    const { group, version, kind: name } = subresource.kind ?? context.kind;
    const kind = { group, version, kind: name };
    const operations = objectOperations(context, { path, suffix: capitalize(subresource.name), verbs: subresource.verbs, kind });
    if (subresource.name !== 'log') return operations;
    return operations.map((operation) => ({ ...operation, produces: ['text/plain', ...operation.produces], answer: 'text' as const }));
  });
}

function watchOperations(context: ResourceContext): Operation[] {
  const { resource, root, prefix, kind } = context;
  if (!resource.verbs.includes('watch') || resource.custom) return [];
  const base = {
    tag: context.tag, kind, produces: produces(context, true), method: 'get', consumes: [], parameters: 'list', answer: { meta: 'WatchEvent' },
    statuses: ['200', '401'],
  } as const;
  const path = resource.namespaced ? `${root}/watch/namespaces/{namespace}/${resource.plural}` : `${root}/watch/${resource.plural}`;
  const out: Operation[] = [
    { ...base, path, id: `watch${prefix}${scoped(context)}List`, action: 'watchlist' },
    { ...base, path: `${path}/{name}`, id: `watch${prefix}${scoped(context)}`, action: 'watch' },
  ];
  if (!resource.namespaced) return out;
  return [...out, { ...base, path: `${root}/watch/${resource.plural}`, id: `watch${prefix}${resource.kind}ListForAllNamespaces`, action: 'watchlist' }];
}

function resourceOperations(resource: Resource, groupVersion: GroupVersion, media: Media): Operation[] {
  const word = groupWord(groupVersion.group);
  const context: ResourceContext = {
    ...groupVersion, resource, media, root: rootOf(groupVersion),
    prefix: `${capitalize(word)}${capitalize(groupVersion.version)}`, tag: `${word}_${groupVersion.version}`,
    kind: { ...groupVersion, kind: resource.kind },
  };
  const objectPath = `${resource.namespaced ? `${context.root}/namespaces/{namespace}` : context.root}/${resource.plural}/{name}`;
  const objectVerbs = resource.verbs.filter((verb) => verb !== 'create');
  return [
    ...collectionOperations(context), ...objectOperations(context, { path: objectPath, suffix: '', verbs: objectVerbs, kind: context.kind }),
    ...subresourceOperations(context, objectPath), ...watchOperations(context),
  ];
}

/** Where operations come from: the resources, and the encodings that they have. */
export interface OperationSource {
  readonly catalog: Catalog;
  readonly media: Media;
}

/** All operations of a group version. The first is its discovery document, which upstream does not publish for groups of custom resources alone. */
export function operationsOf({ catalog, media }: OperationSource, groupVersion: GroupVersion): Operation[] {
  const resources = resourcesOf(catalog, groupVersion.group, groupVersion.version);
  const operations = resources.flatMap((resource) => resourceOperations(resource, groupVersion, media));
  if (resources.every(({ custom }) => custom)) return operations;
  const word = groupWord(groupVersion.group);
  const discovery: Operation = {
    path: `${rootOf(groupVersion)}/`, method: 'get', id: `get${capitalize(word)}${capitalize(groupVersion.version)}APIResources`,
    tag: `${word}_${groupVersion.version}`, consumes: [], produces: media.objectTypes, parameters: 'none', answer: { meta: 'APIResourceList' },
    statuses: ['200', '401'],
  };
  return [discovery, ...operations];
}

/** Operations outside of the API groups, by the path of their document in the index of v3. Paths of operations end with a slash. */
export const plainOperations: Readonly<Record<string, Operation>> = {
  '.well-known/openid-configuration': plainOperation('.well-known/openid-configuration', {
    id: 'getServiceAccountIssuerOpenIDConfiguration', tag: 'WellKnown', produces: [JSON_TYPE], answer: 'text',
  }),
  'openid/v1/jwks': plainOperation('openid/v1/jwks', {
    id: 'getServiceAccountIssuerOpenIDKeyset', tag: 'openid', produces: ['application/jwk-set+json'], answer: 'text',
  }),
  version: {
    ...plainOperation('version', { id: 'getCodeVersion', tag: 'version', produces: [JSON_TYPE],
      answer: { definition: 'io.k8s.apimachinery.pkg.version.Info' } }),
    consumes: [JSON_TYPE],
  },
};

function plainOperation(path: string, parts: Pick<Operation, 'id' | 'tag' | 'produces' | 'answer'>): Operation {
  return { path: `/${path}/`, method: 'get', consumes: undefined, parameters: 'none', statuses: ['200', '401'], ...parts };
}

/** The operation of a discovery root: `/api/`, `/apis/`, `/apis/{group}/`. */
export function rootOperation(path: string): Operation {
  const base = { path: `/${path}/`, method: 'get', consumes: [], produces: plainMedia.objectTypes, parameters: 'none', statuses: ['200', '401'] } as const;
  if (path === 'api') return { ...base, id: 'getCoreAPIVersions', tag: 'core', answer: { meta: 'APIVersions' } };
  if (path === 'apis') return { ...base, id: 'getAPIVersions', tag: 'apis', answer: { meta: 'APIGroupList' } };
  const word = groupWord(path.slice('apis/'.length));
  return { ...base, id: `get${capitalize(word)}APIGroup`, tag: word, answer: { meta: 'APIGroup' } };
}
