// Warnings about files of one volume whose paths overlap.
import { trimEnd } from '../../../../base/index.ts';
import { type Field, at, each } from '../../../common/validation/check.ts';
import { readPath, toList, toText } from '../../../common/values.ts';

interface File {
  readonly path: string;
  /** The source of the file, where a volume has several. */
  readonly source: string;
}

const show = ({ path, source }: File): string => (source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`);
const holds = (outer: string, inner: string): boolean => `${inner}/`.startsWith(`${outer}/`);

/** Each pair of files with the same path, or of which one is a directory above the other. */
function findOverlaps(files: readonly File[]): readonly string[] {
  const named = files.map((file) => ({ ...file, path: trimEnd(file.path, '/') })).filter(({ path }) => path !== '');
  return named.flatMap((file, index) => {
    const others = named.slice(0, index).filter((other) => holds(other.path, file.path) || holds(file.path, other.path));
    return others.map((other) => `${show(file)} with ${show(other)}`);
  });
}

const filesOf = (items: unknown, source = ''): readonly File[] => toList(items).map((item) => ({ path: toText(readPath(item, 'path')), source }));

function filesOfProjection(projection: unknown): readonly File[] {
  const read = (...names: readonly string[]): string => toText(readPath(projection, ...names));
  const has = (name: string): boolean => readPath(projection, name) !== undefined;
  const items = (name: string): unknown => readPath(projection, name, 'items');
  if (items('configMap') !== undefined) return filesOf(items('configMap'), `ConfigMap "${read('configMap', 'name')}"`);
  if (items('secret') !== undefined) return filesOf(items('secret'), `Secret "${read('secret', 'name')}"`);
  if (items('downwardAPI') !== undefined) return filesOf(items('downwardAPI'), 'DownwardAPI');
  if (has('serviceAccountToken')) return [{ path: read('serviceAccountToken', 'path'), source: 'ServiceAccountToken' }];
  if (!has('clusterTrustBundle')) return [];
  const bundle = read('clusterTrustBundle', 'name') || read('clusterTrustBundle', 'signerName');
  return [{ path: read('clusterTrustBundle', 'path'), source: `ClusterTrustBundle "${bundle}"` }];
}

/** Volumes with more files than this are not searched: the search is quadratic. */
const MAX_FILES = 1_000;

/** Warns of files of a volume that overlap. */
export function warnOfOverlaps(volumes: Field): readonly string[] {
  return each(volumes).flatMap((volume) => {
    const name = toText(readPath(volume.value, 'name'));
    const warn = (what: string, files: readonly File[]): readonly string[] =>
      (files.length > MAX_FILES ? [] : findOverlaps(files).map((text) => `volume "${name}" (${what}): overlapping paths: ${text}`));
    const sources = each(at(volume, 'projected', 'sources')).map(({ value }) => value);
    return [
      ...warn(`ConfigMap "${toText(at(volume, 'configMap', 'name').value)}"`, filesOf(at(volume, 'configMap', 'items').value)),
      ...warn(`Secret "${toText(at(volume, 'secret', 'secretName').value)}"`, filesOf(at(volume, 'secret', 'items').value)),
      ...warn('DownwardAPI', filesOf(at(volume, 'downwardAPI', 'items').value)),
      ...sources.filter((source) => Object.keys(source ?? {}).length === 0).map(() => `volume "${name}" (Projected) has no sources provided`),
      ...warn('Projected', sources.flatMap(filesOfProjection)),
    ];
  });
}
