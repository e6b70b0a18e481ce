// Which object of a row is marked as the default: the newest, should several be, and of equally old ones the first by name.
import type { KubeObject } from '../apimachinery/index.ts';

/** Annotations that mark a default with the value `true`. */
export type DefaultMark = readonly string[];

/** The name of the default, undefined when none is marked. */
export function findMarked(objects: readonly KubeObject[], marks: DefaultMark): string | undefined {
  const marked = objects.filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === 'true'));
  const order = (one: KubeObject, two: KubeObject): number => {
    const [a, b] = [one.metadata.creationTimestamp ?? '', two.metadata.creationTimestamp ?? ''];
    if (a !== b) return a < b ? 1 : -1;
    return (one.metadata.name ?? '') < (two.metadata.name ?? '') ? -1 : 1;
  };
  return marked.sort(order)[0]?.metadata.name;
}
