// Conditions of authorization webhooks: what they see of a request, and what counts when one cannot be evaluated.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { loadPatternEngine } from '../../apimachinery/index.ts';
import { systemClock } from '../../base/index.ts';
import type { Attributes } from './attributes.ts';
import { compileMatchConditions } from './match-conditions.ts';
import { createWebhookAuthorizer } from './webhook.ts';

const request: Attributes = {
  user: { name: 'u', groups: ['devs'], extra: { team: ['x'] } }, verb: 'get', isResource: true, group: '', version: 'v1', namespace: 'n',
  resource: 'pods', subresource: '', name: 'p', path: '',
};
const other: Attributes = { ...request, user: { name: 'u', groups: [] }, isResource: false, resource: '', path: '/healthz' };
const broken = 'request.resourceAttributes.namespace == "n"';

describe('compileMatchConditions', () => {
  before(() => loadPatternEngine());
  const rows: readonly (readonly [string, boolean | 'error', boolean | 'error'])[] = [
    ['has(request.resourceAttributes)', true, false], ['has(request.nonResourceAttributes) && request.nonResourceAttributes.path == "/healthz"', false, true],
    [broken, true, 'error'], ['request.user == "u" && request.uid == ""', true, true], ['"devs" in request.groups', true, false],
    ['!("system:serviceaccounts" in request.groups)', true, true], ['"team" in request.extra && "x" in request.extra["team"]', true, false],
    ['request.user.matches("^u+$")', true, true], ['!has(request.resourceAttributes) || request.resourceAttributes.subresource == ""', true, true],
  ];
  for (const [expression, forResource, forPath] of rows) {
    it(`answers ${expression}`, () => {
      const ask = (attributes: Attributes) => {
        const found = compileMatchConditions([expression])(attributes);
        return found instanceof Error ? 'error' : found;
      };
      assert.deepEqual([ask(request), ask(other)], [forResource, forPath]);
    });
  }

  it('lets a condition that is false win over one that fails', () => {
    assert.equal(compileMatchConditions([broken, 'false'])(other), false);
    assert.ok(compileMatchConditions([broken, 'true'])(other) instanceof Error);
  });

  it('refuses what is no condition', () => {
    for (const expression of ['', '1', 'request.nothing == ""', 'self.x', 'request.']) assert.throws(() => compileMatchConditions([expression]), expression);
  });

  it('keeps requests from the webhook, and fails as its policy says', async () => {
    let asked = 0;
    const make = (failurePolicy: 'NoOpinion' | 'Deny', expression: string) => createWebhookAuthorizer({
      clock: systemClock, failurePolicy, matches: compileMatchConditions([expression]),
      send: async () => {
        asked += 1;
        throw new Error('down');
      },
    });
    assert.equal((await make('Deny', 'false')(request)).type, 'none');
    assert.equal((await make('Deny', broken)(other)).type, 'deny');
    assert.equal((await make('NoOpinion', broken)(other)).type, 'none');
    assert.equal(asked, 0);
    assert.equal((await make('Deny', 'true')(request)).type, 'deny');
    assert.equal(asked, 1);
  });
});
