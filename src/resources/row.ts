// The builder of rows: what most kinds have in common is a default here, so that a row of the table names only what is special;
// columns and strategies are found by group and kind.
// Defaults: namespaced, all eight verbs, version v1, names that are DNS subdomains, PUT without resourceVersion allowed, Background deletion.
import { invariant } from '../base/index.ts';
import type { KubeObject, SchemaSet } from '../apimachinery/index.ts';
import type { Resource, ResourceVerb, Subresource } from '../registry/index.ts';
import { columnsByKind } from './columns/by-kind.ts';
import { defaultColumns } from './columns/common.ts';
import { readPodConditions } from './columns/pods.ts';
import { metadataChecksOf } from './metadata-checks.ts';
import { resetFieldsByKind } from './reset-fields.ts';
import { strategiesByKind } from './strategies/by-kind.ts';
import { withoutGatedFields } from './strategies/gated.ts';
import { validationsByKind } from './validation/by-kind.ts';
import { warningsByKind } from './warnings/by-kind.ts';

/** What a row may say; everything but kind and plural has a default. */
interface RowSpec {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  readonly versions?: readonly string[];
  readonly verbs?: readonly ResourceVerb[];
  readonly subresources?: readonly Subresource[];
  readonly nameRule?: Resource['nameRule'];
  readonly selectableFields?: Resource['selectableFields'];
  readonly unknownField?: Resource['unknownField'];
  readonly createOnUpdate?: true;
  readonly unconditionalUpdate?: false;
  readonly returnsDeleted?: true;
  readonly defaultPropagation?: 'Orphan';
  readonly tracksGeneration?: true;
  readonly storagePrefix?: string;
  readonly scale?: Resource['scale'];
  readonly convert?: (object: KubeObject, from: string, to: string) => KubeObject;
  readonly upstreamStorageVersion?: string;
  readonly storedAs?: string;
  readonly ttlSeconds?: number;
  readonly resetFields?: Resource['resetFields'];
  readonly statusOnCreate?: true;
  readonly virtual?: true;
  readonly tableOrder?: Resource['tableOrder'];
  /** `Warning` header of every request; all versions of the row. */
  readonly deprecationWarning?: string;
}

/** The rows of one group. */
export interface GroupSpec {
  readonly group: string;
  readonly rows: readonly RowSpec[];
}

const allVerbs: readonly ResourceVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The verbs of kinds that are answered and never stored. */
export const createOnly: readonly ResourceVerb[] = ['create'];

/** Verbs of a resource that has no collection to delete (namespaces). */
export const withoutDeleteCollection: readonly ResourceVerb[] = allVerbs.filter((verb) => verb !== 'deletecollection');

/** A subresource that reads and writes the parent's kind, such as status. */
export function subresource(name: string): Subresource {
  return { name, verbs: ['get', 'patch', 'update'] };
}

/** A subresource that is a tunnel; `verbs` are those of its HTTP methods. */
export function connectSubresource(name: string, kind: string, verbs: readonly ResourceVerb[]): Subresource {
  return { name, verbs, kind: { group: '', version: 'v1', kind }, connect: true };
}

/** `status`, as most kinds have it. */
export const status = subresource('status');

/** `scale`, whose body is autoscaling/v1 Scale. */
export const scale: Subresource = { ...subresource('scale'), kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } };

/** The default paths of scale; kinds differ in how they hold the selector, which the reader of the path works out. */
export const scalePaths = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' } as const;

const rowDefaults = {
  shortNames: [], categories: [], verbs: allVerbs, subresources: [], nameRule: 'dns-subdomain', selectableFields: {}, createOnUpdate: false,
  unconditionalUpdate: true, returnsDeleted: false, defaultPropagation: 'Background', tracksGeneration: false, custom: false,
} as const;

/** Completes a row with the defaults, its schemas, columns and strategy; the first version listed is the one that is stored. */
export function buildResource(group: string, spec: RowSpec, schemas: SchemaSet): Resource {
  const { cluster, versions = ['v1'], deprecationWarning, ...rest } = spec;
  const key = `${group}/${spec.kind}`;
  const columns = columnsByKind[key] ?? defaultColumns;
  return {
    ...rowDefaults,
    ...rest,
    group,
    listKind: `${spec.kind}List`,
    singular: spec.kind.toLowerCase(),
    namespaced: cluster !== true,
    versions: versions.map((name) => {
      const schema = schemas.forKind({ group, version: name, kind: spec.kind });
      invariant(schema !== undefined, `no schema for ${group}/${name} ${spec.kind}`);
      return {
        name, served: true, schema, columns, ...(deprecationWarning && { deprecationWarning }), ...(key === '/Pod' && { rowConditions: readPodConditions }),
      };
    }),
    storageVersion: versions[0] as string,
    storagePrefix: spec.storagePrefix ?? spec.plural,
    metadataChecks: metadataChecksOf(key),
    strategy: { ...withoutGatedFields(key, strategiesByKind[key] ?? {}), ...validationsByKind[key], ...warningsByKind[key] },
    ...(resetFieldsByKind[key] && { resetFields: resetFieldsByKind[key] }),
  };
}
