// The operations of a group version as data, made from the catalog's rows; both OpenAPI dialects are written from them.
import type { GroupVersionKind } from '../../apimachinery/index.ts';
import { type Catalog, type Resource, type Subresource, subresourcesIn } from '../../registry/index.ts';
import { rowsOf } from '../discovery/discovery-data.ts';
import {
  APPLY_PATCH_TYPE, JSON_PATCH_TYPE, JSON_TYPE, MERGE_PATCH_TYPE, OBJECT_TYPES, STRATEGIC_PATCH_TYPE, STREAM_TYPES, YAML_TYPE,
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
  /** Types of bodies; undefined where not even v2 names any. */
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

interface RowContext extends GroupVersion {
  readonly row: Resource;
  /** `/apis/apps/v1`. */
  readonly root: string;
  /** `AppsV1`. */
  readonly prefix: string;
  readonly tag: string;
  readonly kind: GroupVersionKind;
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

function produces({ row }: RowContext, stream = false): readonly string[] {
  const types = row.custom ? [JSON_TYPE, YAML_TYPE] : OBJECT_TYPES;
  return stream && !row.custom ? [...types, ...STREAM_TYPES] : types;
}

function common(context: RowContext, kind: GroupVersionKind = context.kind) {
  return { tag: context.tag, kind, produces: produces(context) };
}

/** Names of the parts of operation ids: `NamespacedDeployment` or `Node`. */
const scoped = ({ row }: RowContext): string => (row.namespaced ? `Namespaced${row.kind}` : row.kind);

function collectionOperations(context: RowContext): Operation[] {
  const { row, root, prefix, kind } = context;
  const path = row.namespaced ? `${root}/namespaces/{namespace}/${row.plural}` : `${root}/${row.plural}`;
  const list = { ...kind, kind: row.listKind };
  const out: Operation[] = [];
  const readsAs = { ...common(context), produces: produces(context, true), parameters: 'list', answer: list, statuses: ['200', '401'], consumes: [] } as const;
  if (row.verbs.includes('list')) out.push({ ...readsAs, path, method: 'get', id: `list${prefix}${scoped(context)}`, action: 'list' });
  if (row.verbs.includes('create')) {
    out.push({
      ...common(context), path, method: 'post', id: `create${prefix}${scoped(context)}`, action: 'post', parameters: 'write', consumes: ['*/*'],
      body: kind, answer: kind, statuses: ['200', '201', '202', '401'],
    });
  }
  if (row.verbs.includes('deletecollection')) {
    out.push({
      ...common(context), path, method: 'delete', id: `delete${prefix}Collection${scoped(context)}`, action: 'deletecollection', parameters: 'list',
      consumes: ['*/*'], ...(!row.custom && { body: { meta: 'DeleteOptions' } as const }), answer: { meta: 'Status' }, statuses: ['200', '401'],
    });
  }
  if (row.namespaced && row.verbs.includes('list')) {
    out.push({ ...readsAs, path: `${root}/${row.plural}`, method: 'get', id: `list${prefix}${row.kind}ForAllNamespaces`, action: 'list' });
  }
  return out;
}

/** Whether a delete answers the object. */
function deleteAnswer({ row, kind }: RowContext): BodyKind {
  // A namespace that is deleted is answered itself, but published as a Status.
  const isNamespace = row.group === '' && row.plural === 'namespaces';
  return row.returnsDeleted && !row.custom && !isNamespace ? kind : { meta: 'Status' };
}

/** get, put, patch, delete of a path; `verbs` are those that it has. */
function objectOperations(context: RowContext, place: { path: string; suffix: string; verbs: readonly string[]; kind: GroupVersionKind }): Operation[] {
  const { row, prefix } = context;
  const { path, suffix, verbs, kind } = place;
  const base = common(context, kind);
  const name = `${prefix}${scoped(context)}${suffix}`;
  const patches = row.custom ? [] : [STRATEGIC_PATCH_TYPE];
  const out: Operation[] = [];
  if (verbs.includes('get')) {
    out.push({ ...base, path, method: 'get', id: `read${name}`, action: 'get', parameters: row.custom ? 'get' : 'none', consumes: [], answer: kind,
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
      // Those of custom kinds do not say that an apply may create.
      statuses: row.custom ? ['200', '401'] : ['200', '201', '401'],
      consumes: [JSON_PATCH_TYPE, MERGE_PATCH_TYPE, ...patches, APPLY_PATCH_TYPE],
    });
  }
  return out;
}

const CONNECT_METHODS: Readonly<Record<string, readonly Operation['method'][]>> = {
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
};

function connectOperations(context: RowContext, path: string, subresource: Subresource): Operation[] {
  const { prefix } = context;
  const kind = subresource.kind ?? context.kind;
  const methods = CONNECT_METHODS[subresource.name] ?? ['get', 'post'];
  const paths = subresource.name === 'proxy' ? [[path, ''], [`${path}/{path}`, 'WithPath']] as const : [[path, '']] as const;
  return paths.flatMap(([at, suffix]) => methods.map((method) => ({
    path: at, method, id: `connect${prefix}${capitalize(method)}${scoped(context)}${capitalize(subresource.name)}${suffix}`, tag: context.tag,
      action: 'connect',
    kind, consumes: [], produces: ['*/*'], parameters: 'none', answer: 'text', statuses: ['200', '401'],
  }) satisfies Operation));
}

function subresourceOperations(context: RowContext, objectPath: string): Operation[] {
  return subresourcesIn(context.row, context.version).flatMap((subresource) => {
    const path = `${objectPath}/${subresource.name}`;
    if (subresource.connect) return connectOperations(context, path, subresource);
    const { group, version, kind: name } = subresource.kind ?? context.kind;
    const kind = { group, version, kind: name };
    const operations = objectOperations(context, { path, suffix: capitalize(subresource.name), verbs: subresource.verbs, kind });
    if (subresource.name !== 'log') return operations;
    return operations.map((operation) => ({ ...operation, produces: ['text/plain', ...operation.produces], answer: 'text' as const }));
  });
}

function watchOperations(context: RowContext): Operation[] {
  const { row, root, prefix, kind } = context;
  if (!row.verbs.includes('watch') || row.custom) return [];
  const base = {
    tag: context.tag, kind, produces: produces(context, true), method: 'get', consumes: [], parameters: 'list', answer: { meta: 'WatchEvent' },
      statuses: ['200', '401'],
  } as const;
  const path = row.namespaced ? `${root}/watch/namespaces/{namespace}/${row.plural}` : `${root}/watch/${row.plural}`;
  const out: Operation[] = [
    { ...base, path, id: `watch${prefix}${scoped(context)}List`, action: 'watchlist' },
    { ...base, path: `${path}/{name}`, id: `watch${prefix}${scoped(context)}`, action: 'watch' },
  ];
  if (row.namespaced) out.push({ ...base, path: `${root}/watch/${row.plural}`, id: `watch${prefix}${row.kind}ListForAllNamespaces`, action: 'watchlist' });
  return out;
}

function rowOperations(row: Resource, groupVersion: GroupVersion): Operation[] {
  const word = groupWord(groupVersion.group);
  const context: RowContext = {
    ...groupVersion, row, root: rootOf(groupVersion), prefix: `${capitalize(word)}${capitalize(groupVersion.version)}`, tag: `${word}_${groupVersion.version}`,
    kind: { ...groupVersion, kind: row.kind },
  };
  const objectPath = `${row.namespaced ? `${context.root}/namespaces/{namespace}` : context.root}/${row.plural}/{name}`;
  const objectVerbs = row.verbs.filter((verb) => verb !== 'create');
  return [
    ...collectionOperations(context), ...objectOperations(context, { path: objectPath, suffix: '', verbs: objectVerbs, kind: context.kind }),
    ...subresourceOperations(context, objectPath), ...watchOperations(context),
  ];
}

/** All operations of a group version, its discovery document first; the documents of groups of custom resources have none. */
export function operationsOf(catalog: Catalog, groupVersion: GroupVersion): Operation[] {
  const rows = rowsOf(catalog, groupVersion.group, groupVersion.version);
  const operations = rows.flatMap((row) => rowOperations(row, groupVersion));
  if (rows.every(({ custom }) => custom)) return operations;
  const word = groupWord(groupVersion.group);
  const discovery: Operation = {
    path: `${rootOf(groupVersion)}/`, method: 'get', id: `get${capitalize(word)}${capitalize(groupVersion.version)}APIResources`,
      tag: `${word}_${groupVersion.version}`,
    consumes: [], produces: OBJECT_TYPES, parameters: 'none', answer: { meta: 'APIResourceList' }, statuses: ['200', '401'],
  };
  return [discovery, ...operations];
}

/** The documents beside the API: by their path in the index of v3. Paths of operations end with a slash. */
export const PLAIN_OPERATIONS: Readonly<Record<string, Operation>> = {
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
  const base = { path: `/${path}/`, method: 'get', consumes: [], produces: OBJECT_TYPES, parameters: 'none', statuses: ['200', '401'] } as const;
  if (path === 'api') return { ...base, id: 'getCoreAPIVersions', tag: 'core', answer: { meta: 'APIVersions' } };
  if (path === 'apis') return { ...base, id: 'getAPIVersions', tag: 'apis', answer: { meta: 'APIGroupList' } };
  const word = groupWord(path.slice('apis/'.length));
  return { ...base, id: `get${capitalize(word)}APIGroup`, tag: word, answer: { meta: 'APIGroup' } };
}
