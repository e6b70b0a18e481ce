// Columns that the kinds with a pod template share: counts, selectors, names and images of containers.
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import type { Column } from '../../../registry/index.ts';
import { type Cell, readPath, toNumber, toObjects, toText } from '../values.ts';
import { ageColumn, integerColumn, nameColumn, wideColumn } from './columns.ts';
import { formatSelector } from './selector.ts';

/** Container names and images of a pod spec, as the wide columns print them. */
export function containerColumns(...path: readonly string[]): readonly Column[] {
  const containers = (object: KubeObject): readonly JsonObject[] => toObjects(readPath(object, ...path, 'containers'));
  return [
    wideColumn('Containers', (object) => containers(object).map((container) => toText(container['name'])).join(',')),
    wideColumn('Images', (object) => containers(object).map((container) => toText(container['image'])).join(',')),
  ];
}

/** Names and images of the containers of the template. */
export const templateContainers = containerColumns('spec', 'template', 'spec');

/** The selector, wide. */
export const selectorColumn = wideColumn('Selector', (object) => formatSelector(readPath(object, 'spec', 'selector')));

/** A number of the status under a column that the reference declares as text. */
export function countColumn(name: string, ...path: readonly string[]): Column {
  return { ...integerColumn(name, ...path), type: 'string' };
}

/** The cell of ready and wanted replicas. */
export function formatReady(object: KubeObject): Cell {
  return `${toNumber(readPath(object, 'status', 'readyReplicas'))}/${toNumber(readPath(object, 'spec', 'replicas'))}`;
}

/** Wanted, current and ready replicas. */
export const replicaColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', 'spec', 'replicas'),
  integerColumn('Current', 'status', 'replicas'),
  integerColumn('Ready', 'status', 'readyReplicas'),
  ageColumn,
  ...templateContainers,
];
