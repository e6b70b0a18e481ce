// --feature-gates and --runtime-config: what can be asked for, what is refused, and what is reported.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestServer } from '../../test-support/index.ts';
import { createLogger } from '../observability/logger.ts';
import { systemClock } from '../../base/index.ts';
import { checkFeatureGates, isGateOn, listIgnoredGates, switchableGates } from './feature-gates.ts';

describe('--feature-gates', () => {
  it('refuses what kube-apiserver refuses, in its words', () => {
    const refused: readonly (readonly [setting: string, problem: string])[] = [
      ['NoSuch=true', 'unrecognized feature gate: NoSuch'], ['=true', 'unrecognized feature gate: '],
      ['wardle:PodsAPI=true', 'component not registered: wardle'],
      ['PodsAPI', 'missing bool value for PodsAPI'], ['PodsAPI=yes', 'invalid value of PodsAPI=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
      ['NodeLogQuery=false', 'cannot set feature gate NodeLogQuery to false, feature is locked to true'],
      ['SeparateCacheWatchRPC=true', 'cannot set feature gate SeparateCacheWatchRPC to true, feature is locked to false'],
    ];
    for (const [setting, problem] of refused) assert.equal(checkFeatureGates(['PodsAPI=false', setting]), problem);
  });

  it('accepts the gates of kube-apiserver, and its spellings', () => {
    assert.equal(checkFeatureGates(['PodsAPI=true', 'kube:WatchList=F', 'NodeLogQuery=1', 'SeparateCacheWatchRPC=False']), undefined);
    for (const name of switchableGates) for (const isOn of [true, false]) assert.equal(isGateOn([`${name}=${!isOn}`, `kube:${name}=${isOn}`], name), isOn);
  });

  it('knows the defaults', () => {
    assert.deepEqual(switchableGates.filter((name) => isGateOn([], name)), ['ServiceAccountNodeAudienceRestriction']);
  });

  it('lists settings that have no effect: gates that cannot be switched, where their default is not asked for', () => {
    assert.deepEqual(listIgnoredGates(['PodsAPI=false', 'WatchList=true', 'PodLogsQuerySplitStreams=true']), []);
    assert.deepEqual(listIgnoredGates(['PodsAPI=true', 'WatchList=false', 'AllAlpha=true', 'AllAlpha=false']), ['PodsAPI=true', 'WatchList=false']);
  });

  it('is checked at the start, which reports settings without effect', async () => {
    await assert.rejects(startTestServer({ featureGates: ['NoSuch=true'] }), /--feature-gates unrecognized feature gate: NoSuch/);
    const lines: string[] = [];
    const logger = createLogger({ verbosity: 0, clock: systemClock, write: (line) => void lines.push(line) });
    const server = await startTestServer({ featureGates: ['PodsAPI=true'], logger });
    await server.close();
    assert.match(lines.join(''), /feature gates that cannot be switched here are ignored","gates":"PodsAPI=true"/);
  });
});

describe('--runtime-config', () => {
  it('accepts what is served anyway', async () => {
    const runtimeConfig = [
      'api/ga=true', 'api/beta=false', 'api/alpha=0', 'api/legacy=false', 'v1=true', 'v1', 'apps/v1=', 'apps/v1/deployments=true', 'batch/v1beta1=false',
      'apps/v1/nothing=false', 'storagemigration.k8s.io/v1alpha1=false',
    ];
    const server = await startTestServer({ runtimeConfig });
    await server.close();
  });

  it('refuses everything else', async () => {
    const unsupported = [
      'api/all=true', 'api/all=false', 'api/ga=false', 'api/beta=true', 'v1=false', 'apps/v1=false', 'resource.k8s.io/v1alpha3=true',
      'apps/v1/deployments=false',
    ];
    for (const setting of unsupported) {
      const error = new RegExp(`^StartError: --runtime-config=${setting} is not supported`);
      await assert.rejects(startTestServer({ runtimeConfig: [setting] }), (thrown) => error.test(String(thrown)), setting);
    }
    await assert.rejects(startTestServer({ runtimeConfig: ['foo.example.com/v1=true'] }), /unknown api groups foo\.example\.com\/v1/);
    await assert.rejects(startTestServer({ runtimeConfig: ['api/constructor=true'] }), /unknown api groups api\/constructor/);
    await assert.rejects(startTestServer({ runtimeConfig: ['foo=true'] }), /runtime-config invalid key foo/);
    await assert.rejects(startTestServer({ runtimeConfig: ['v1=maybe'] }), /invalid value of v1=maybe/);
  });
});
