// The pool of kept agents: a call in progress outlives the place of its agent in the pool.
import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { describe, it } from 'node:test';
import { AgentPool } from './agent-pool.ts';

/** More ways to meet servers than are kept. */
const MANY = 250;

class WatchedAgent extends Agent {
  isDestroyed = false;

  override destroy(): void {
    this.isDestroyed = true;
    super.destroy();
  }
}

describe('AgentPool', () => {
  const make = (): WatchedAgent => new WatchedAgent();

  it('keeps those that are used, and forgets others without cutting their connections', () => {
    const pool = new AgentPool();
    const [used, idle] = ['used', 'idle'].map((key) => pool.agentFor(key, make) as WatchedAgent);
    for (let index = 0; index < MANY; index++) {
      pool.agentFor(String(index), make);
      assert.equal(pool.agentFor('used', make), used);
    }
    assert.notEqual(pool.agentFor('idle', make), idle);
    assert.equal(idle?.isDestroyed, false);
    pool.close();
    assert.equal(used?.isDestroyed, true);
  });
});
