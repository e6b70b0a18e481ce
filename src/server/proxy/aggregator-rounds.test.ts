// When the servers behind APIServices are asked for their documents, by a clock that stands still.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createManualClock } from '../../base/index.ts';
import { Aggregator } from './aggregator.ts';

const api = {
  group: 'g', version: 'v1', service: { namespace: 'default', name: 's' }, authorities: '', skipsVerification: true, groupPriority: 1, versionPriority: 1,
  isAvailable: false, marks: {},
};

/** An aggregator whose servers have no address, and how often one was looked for. */
function makeAggregator() {
  const clock = createManualClock();
  let rounds = 0;
  const find = (): undefined => void (rounds += 1);
  const registry = (): never => assert.fail();
  const aggregator = new Aggregator({
    clock, random: { below: () => 0 }, credentials: undefined, refusesRedirects: false, isSecure: true,
    registry, catalog: { find }, requiresEndpoints: false, dial: undefined,
  });
  return { clock, aggregator, rounds: () => rounds };
}

describe('documents of aggregated servers', () => {
  it('are asked for when the way to their server changes, and each minute', async () => {
    const { clock, aggregator, rounds } = makeAggregator();
    aggregator.set(api);
    await setImmediate();
    const { generation } = aggregator;
    aggregator.set({ ...api, service: { ...api.service } });
    await setImmediate();
    assert.deepEqual([rounds(), clock.pendingTimers, aggregator.generation], [1, 1, generation]);
    aggregator.set({ ...api, groupPriority: 2 });
    await setImmediate();
    assert.deepEqual([rounds(), clock.pendingTimers], [2, 1]);
    aggregator.set({ ...api, groupPriority: 2, marks: { labels: { touched: 'yes' } } });
    await setImmediate();
    assert.deepEqual([rounds(), clock.pendingTimers], [3, 1]);
    clock.advance(60_000);
    await setImmediate();
    assert.deepEqual([rounds(), clock.pendingTimers], [4, 1]);
  });

  it('are asked for by one round at a time, which ends with the APIService and with the server', async () => {
    const { clock, aggregator, rounds } = makeAggregator();
    aggregator.set(api);
    aggregator.remove('g', 'v1');
    aggregator.set(api);
    await setImmediate();
    assert.deepEqual([rounds(), clock.pendingTimers], [2, 1]);
    aggregator.remove('g', 'v1');
    assert.equal(clock.pendingTimers, 0);
    aggregator.set(api);
    await setImmediate();
    assert.equal(clock.pendingTimers, 1);
    aggregator.stop();
    assert.equal(clock.pendingTimers, 0);
  });
});
