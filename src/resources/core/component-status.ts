// core/v1 ComponentStatus: computed for each request, never stored.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, nameColumn } from '../common/columns/columns.ts';
import { toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

function readHealth(object: KubeObject, field: string): string {
  return toText(toObjects(object['conditions']).find((condition) => condition['type'] === 'Healthy')?.[field]);
}

/** Columns of componentstatuses. */
const componentStatusColumns: readonly Column[] = [
  nameColumn,
  column('Status', (object) => {
    const status = readHealth(object, 'status');
    return status === '' ? 'Unknown' : status === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  column('Message', (object) => readHealth(object, 'message')),
  column('Error', (object) => readHealth(object, 'error')),
];

/** The spec of ComponentStatus. */
export const componentStatusKind: KindSpec = {
  kind: 'ComponentStatus', plural: 'componentstatuses', shortNames: ['cs'], cluster: true,
  verbs: ['get', 'list'], virtual: true, deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
  columns: componentStatusColumns,
};
