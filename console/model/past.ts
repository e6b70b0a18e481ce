// The changes of a namespace that a server still knows, and the revision that a time stands for.

/** One change of one object. */
export interface Change<T> {
  readonly kind: T;
  readonly name: string;
  readonly revision: number;
  readonly type: string;
  /** As its writer's entry in managedFields says; '' where nothing says. */
  readonly time: string;
}

interface Metadata {
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly managedFields?: readonly { readonly time?: string }[];
}

/** The time of a version of an object: that of its latest writer. Timestamps of the API order as texts do. */
export function timeOf({ creationTimestamp = '', deletionTimestamp = '', managedFields = [] }: Metadata): string {
  return [creationTimestamp, deletionTimestamp, ...managedFields.map(({ time = '' }) => time)].reduce((latest, time) => (time > latest ? time : latest), '');
}

/** The last revision whose change was made at a time or before it; the oldest one that can be read where all are later. */
export function findRevision(changes: readonly Pick<Change<unknown>, 'revision' | 'time'>[], oldest: number, time: string): number {
  const [ordered, wanted] = [[...changes].sort((a, b) => a.revision - b.revision), Date.parse(time)];
  let [found, latest] = [oldest, 0];
  for (const { revision, time: written } of ordered) {
    const ms = Date.parse(written);
    latest = Math.max(latest, Number.isNaN(ms) ? 0 : ms);
    if (latest > wanted) break;
    found = revision;
  }
  return found;
}
