// Which container of a pod is meant.
import { badRequest } from '../../apimachinery/index.ts';

/** The part of a pod's spec that names containers. */
export interface ContainerLists {
  readonly [list: string]: unknown;
}

const listNames = ['initContainers', 'containers', 'ephemeralContainers'];

const namesIn = (spec: ContainerLists, list: string): string[] => ((spec[list] ?? []) as { name: string }[]).map(({ name }) => name);

/** The container that is meant; throws the reference's 400 when that is none, or not clear. */
export function chooseContainer(pod: string, spec: ContainerLists, wanted: string): string {
  const all = listNames.flatMap((list) => namesIn(spec, list));
  if (wanted !== '') {
    if (all.includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${pod}`);
  }
  const [only, ...others] = namesIn(spec, 'containers');
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${pod}`);
  if (others.length === 0) return only;
  throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${all.join(' ')}]`);
}
