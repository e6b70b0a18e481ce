// Fields that the reference has in its types and does not keep, because their feature is off by default (upstream's dropDisabledFields). They are
// dropped on writes, unless the stored object uses them already.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { readStructs } from './defaults.ts';
import { toObject } from './values.ts';

type Struct = Record<string, unknown>;

/** The structs that hold the last name of a path, where they exist, each followed by the structs around it. */
function findHolders(root: unknown, path: readonly string[]): readonly (readonly Struct[])[] {
  let holders: readonly (readonly Struct[])[] = [[root as Struct]];
  for (const name of path) {
    const [, key = '', holds] = /^(.*?)(\[\]|\{\})?$/.exec(name) ?? [];
    holders = holders.flatMap((chain) => {
      const parent = chain[0]!;
      const inner = holds === '[]' ? readStructs(parent, key) : holds === '{}' ? Object.values(toObject(parent[key])) : [parent[key]];
      return inner.filter((value) => typeof value === 'object' && value !== null).map((value) => [value as Struct, ...chain]);
    });
  }
  return holders;
}

function usesField(object: KubeObject, holders: readonly string[], name: string): boolean {
  return findHolders(object, holders).some(([holder]) => holder![name] !== undefined);
}

function dropFields(object: KubeObject, old: KubeObject | undefined, paths: readonly string[]): void {
  for (const path of paths) {
    const parts = path.split('.');
    const [holders, name] = [parts.slice(0, -1), parts.at(-1)!];
    if (old !== undefined && usesField(old, holders, name)) continue;
    for (const [holder, around] of findHolders(object, holders)) {
      if (holder![name] === undefined) continue;
      delete holder![name];
      // The reference removes a lifecycle that becomes empty.
      if (holders.at(-1) === 'lifecycle' && Object.keys(holder!).length === 0) delete around!['lifecycle'];
    }
  }
}

/** The prepare functions of a strategy with these fields dropped: before it prepares a new object, and after it prepares an update. */
export function dropGatedFields(paths: readonly string[], strategy: Strategy): Pick<Strategy, 'prepareForCreate' | 'prepareForUpdate'> {
  return {
    prepareForCreate(object, context) {
      dropFields(object, undefined, paths);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      strategy.prepareForUpdate?.(object, old, context);
      dropFields(object, old, paths);
    },
  };
}
