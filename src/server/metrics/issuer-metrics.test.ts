// The metrics of OpenID Connect providers: what is shown of their keys, and no more of those that are trusted no more.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { countIssuers } from './issuer-metrics.ts';
import { MetricRegistry, hashText } from './metric.ts';

it('shows the keys of trusted providers, and how long checks took', () => {
  const [registry, clock] = [new MetricRegistry(), createManualClock(7_000)];
  const observer = countIssuers(registry, clock);
  const samples = (): string[] => registry.render().filter((line) => !line.startsWith('#') && !line.includes('_latency_seconds'))
    .map((line) => line.replace(/^apiserver_authentication_jwt_authenticator_jwks_fetch_last_/, '').replace(/apiserver_id_hash="[^"]+",/, ''));
  observer.trusts(['https://one', 'https://two']);
  assert.deepEqual(samples(), []);
  observer.fetchedKeys('https://one', '{}');
  observer.fetchedKeys('https://two', undefined);
  const [one, two] = [hashText('https://one'), hashText('https://two')];
  const ofOne = [`timestamp_seconds{jwt_issuer_hash="${one}",result="success"} 7`];
  const keys = `key_set_info{hash="${hashText('{}')}",jwt_issuer_hash="${one}"} 1`;
  assert.deepEqual(samples(), [...ofOne, `timestamp_seconds{jwt_issuer_hash="${two}",result="failure"} 7`, keys]);
  observer.trusts(['https://one']);
  observer.fetchedKeys('https://two', '{}');
  assert.deepEqual(samples(), [...ofOne, keys]);
  observer.checkedToken('https://one', 'success', 0.02);
  assert.ok(registry.render().includes(`apiserver_authentication_jwt_authenticator_latency_seconds_bucket{jwt_issuer_hash="${one}",result="success",le="0.025"} 1`));
});
