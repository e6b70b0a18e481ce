// Decisions that evaluations wait for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccessAttributes, AccessDecision } from '../../apimachinery/index.ts';
import { DecisionWanted, Decisions } from './decisions.ts';

const get: AccessAttributes = { path: '/a', verb: 'get' };
const put: AccessAttributes = { path: '/a', verb: 'put' };

describe('Decisions', () => {
  it('run repeats work with each decision that comes later, and asks once', async () => {
    const asked: string[] = [];
    let runs = 0;
    const decisions = new Decisions(async ({ verb }) => {
      asked.push(verb);
      return { allowed: verb === 'get' };
    });
    const found = await decisions.run((decide) => {
      runs += 1;
      return [decide(get), decide(put), decide(get)].map(({ allowed }) => allowed);
    });
    assert.deepEqual([found, asked, runs], [[true, false, true], ['get', 'put'], 3]);
  });

  it('run does its work once where decisions are there at once', async () => {
    let runs = 0;
    const decisions = new Decisions(({ verb }) => ({ allowed: verb === 'get' }));
    assert.equal(await decisions.run((decide) => (runs += 1, decide(get).allowed && decide(get).allowed)), true);
    assert.deepEqual([runs, decisions.known.size], [1, 1]);
  });

  it('an authorizer that fails decides no', async () => {
    const decisions = new Decisions(() => Promise.reject(new Error('unreachable')));
    assert.deepEqual(await decisions.run<AccessDecision>((decide) => decide(get)), { allowed: false, error: 'unreachable' });
  });

  it('run rejects with errors of the work, and where a decision is missing that is not asked for', async () => {
    const decisions = new Decisions(undefined, new Map([[JSON.stringify(get), { allowed: true }]]));
    assert.equal(decisions.decide(get).allowed, true);
    await assert.rejects(decisions.run((decide) => decide(put)), DecisionWanted);
    await assert.rejects(decisions.run(() => {
      throw new TypeError('broken');
    }), TypeError);
  });
});
