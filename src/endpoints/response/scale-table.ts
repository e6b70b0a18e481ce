// The table of a Scale: name, desired and available replicas, age. Definitions of the columns Name and Age come from ConfigMaps.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Catalog, Column } from '../../registry/index.ts';
import { type TableContext, rowObject } from './table.ts';

interface Replicas {
  readonly replicas?: number;
}

/** The table of one Scale. */
export function tableOfScale(scale: KubeObject, context: TableContext, catalog: Pick<Catalog, 'find'>): Record<string, unknown> {
  const known = catalog.find('', 'v1', 'configmaps')?.versions[0]?.columns ?? [];
  const name = known.find((column) => column.format === 'name');
  const age = known.find((column) => column.age === true);
  const { custom } = context.resource;
  const define = ({ name: title, type, format, description, priority }: Omit<Column, 'cell'>): object => ({ name: title, type, format, description, priority });
  const integer = { type: 'integer', format: '', priority: 0 } as const;
  const columnDefinitions = [
    ...(name === undefined ? [] : [define(custom ? name : { ...name, format: '' })]),
    define({ ...integer, name: 'Desired', description: custom ? 'Number of desired replicas'
      : 'replicas is the desired number of instances for the scaled object.' }),
    define({ ...integer, name: 'Available', description: custom ? 'Number of actual replicas'
      : 'replicas is the actual number of observed instances of the scaled object.' }),
    ...(age === undefined ? [] : [define(custom ? { ...age, type: 'date' } : age)]),
  ];
  const { resourceVersion } = scale.metadata;
  const replicasOf = (part: 'spec' | 'status'): number => (scale[part] as Replicas | undefined)?.replicas ?? 0;
  const cells = [scale.metadata.name ?? '', replicasOf('spec'), replicasOf('status'), ...(age === undefined ? [] : [age.cell(scale, context.nowMs)])];
  return {
    kind: 'Table', apiVersion: `meta.k8s.io/${context.tableVersion}`, metadata: resourceVersion ? { resourceVersion } : {}, columnDefinitions,
    rows: [{ cells, object: rowObject(scale, context) }],
  };
}
