// Which watchers a change concerns, beside a test of each of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBoundsTest } from '../base/index.ts';
import { prefixRange } from '../storage/index.ts';
import type { CacheEvent, ColumnValue } from './contract.ts';
import { type Indexed, WatchIndex } from './watch-index.ts';

/** Values are texts of two columns; one that begins with '?' cannot be read. */
const columnsOf = (value: string): readonly string[] | undefined => (value.startsWith('?') ? undefined : value.split(','));

interface Sleeper extends Indexed {
  readonly name: string;
}

function makeSleeper(name: string, prefix: string, only?: ColumnValue): Sleeper {
  const range = prefixRange(prefix);
  return { name, range, only, isInside: createBoundsTest(range) };
}

const change = (key: string, previous: string | undefined, value: string | undefined): CacheEvent<string> =>
  ({ type: value === undefined ? 'delete' : 'put', key, revision: 1, value, previous });

describe('WatchIndex', () => {
  const sleepers = [
    makeSleeper('all', '/'), makeSleeper('n1', '/', { column: 0, value: 'n1' }), makeSleeper('n2', '/', { column: 0, value: 'n2' }),
    makeSleeper('n1 in a', '/a/', { column: 0, value: 'n1' }), makeSleeper('red', '/', { column: 1, value: 'red' }),
  ];
  const index = new WatchIndex<string, Sleeper>(columnsOf);
  for (const sleeper of sleepers) index.add(sleeper);
  const visited = (key: string, event: CacheEvent<string> | undefined): string[] => {
    const names: string[] = [];
    index.visit(key, event, ({ name }) => void names.push(name));
    return names.sort();
  };

  it('finds the watchers of the value before the change and of that after it', () => {
    assert.deepEqual(visited('/b/x', change('/b/x', undefined, 'n3,blue')), ['all']);
    assert.deepEqual(visited('/b/x', change('/b/x', 'n1,blue', 'n2,blue')), ['all', 'n1', 'n2']);
    assert.deepEqual(visited('/b/x', change('/b/x', 'n1,red', 'n1,red')), ['all', 'n1', 'red']);
    assert.deepEqual(visited('/b/x', change('/b/x', 'n2,blue', undefined)), ['all', 'n2']);
  });

  it('tests the range of watchers of a value', () => {
    assert.deepEqual(visited('/a/x', change('/a/x', undefined, 'n1,blue')), ['all', 'n1', 'n1 in a']);
  });

  it('finds all watchers in the range for a value that cannot be read, and for a change that is not known', () => {
    assert.deepEqual(visited('/b/x', change('/b/x', 'n3,blue', '?')), ['all', 'n1', 'n2', 'red']);
    assert.deepEqual(visited('/b/x', undefined), ['all', 'n1', 'n2', 'red']);
  });

  it('looks at no value when none is wanted, and forgets watchers that leave', () => {
    let read = 0;
    const counted = new WatchIndex<string, Sleeper>((value) => {
      read++;
      return columnsOf(value);
    });
    const [all, n1] = sleepers as [Sleeper, Sleeper];
    counted.add(all);
    counted.add(n1);
    counted.remove(n1);
    counted.remove(n1);
    const names: string[] = [];
    counted.visit('/b/x', change('/b/x', undefined, 'n1,red'), ({ name }) => void names.push(name));
    assert.deepEqual([names, read], [['all'], 0]);
  });
});
