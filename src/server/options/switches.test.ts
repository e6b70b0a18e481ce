// --feature-gates and --runtime-config: what can be asked for, what is refused, and what is reported.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatesOf, kindSpecs } from '../../resources/index.ts';
import { startTestServer } from '../../test-support/index.ts';
import { createLogger } from '../observability/logger.ts';
import { systemClock } from '../../base/index.ts';
import { checkFeatureGates, isGateOn, listGates, listIgnoredGates, switchableGates } from './feature-gates.ts';

describe('--feature-gates', () => {
  it('refuses what kube-apiserver refuses, in its words', () => {
    const refused: readonly (readonly [setting: string, problem: string])[] = [
      ['NoSuch=true', 'unrecognized feature gate: NoSuch'], ['=true', 'unrecognized feature gate: '],
      ['wardle:PodsAPI=true', 'component not registered: wardle'],
      ['PodsAPI', 'missing bool value for PodsAPI'], ['PodsAPI=yes', 'invalid value of PodsAPI=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
      ['NodeLogQuery=false', 'cannot set feature gate NodeLogQuery to false, feature is locked to true'],
      ['WorkloadAwarePreemption=true', 'WorkloadAwarePreemption is enabled, but depends on features that are disabled: [GangScheduling]'],
      ['SeparateCacheWatchRPC=true', 'cannot set feature gate SeparateCacheWatchRPC to true, feature is locked to false'],
    ];
    for (const [setting, problem] of refused) assert.equal(checkFeatureGates(['PodsAPI=false', setting]), problem);
  });

  it('accepts the gates of kube-apiserver, and its spellings', () => {
    assert.equal(checkFeatureGates(['PodsAPI=true', 'kube:WatchList=F', 'NodeLogQuery=1', 'SeparateCacheWatchRPC=False']), undefined);
    for (const name of switchableGates) for (const isOn of [true, false]) assert.equal(isGateOn([`${name}=${!isOn}`, `kube:${name}=${isOn}`], name), isOn);
  });

  it('sets all gates of a stage, but for those that are set themselves', () => {
    const isOn = (name: string, ...settings: readonly string[]): boolean => isGateOn(settings, name);
    assert.deepEqual([isOn('PodCertificateRequest', 'AllBeta=true'), isOn('GenericWorkload', 'AllBeta=true'), isOn('GenericWorkload', 'AllAlpha=true')],
      [true, false, true]);
    assert.equal(isOn('PodCertificateRequest', 'PodCertificateRequest=false', 'AllBeta=true'), false);
    assert.deepEqual([isOn('OpenAPIEnums', 'AllBeta=false'), isOn('VolumeAttributesClass', 'AllBeta=false'), isOn('AllAlpha', 'AllBeta=true')],
      [false, true, false]);
    for (const all of ['AllAlpha=true', 'AllBeta=true']) assert.equal(checkFeatureGates([all]), undefined);
  });

  it('knows the defaults', () => {
    assert.deepEqual(switchableGates.filter((name) => isGateOn([], name)), [
      'ClearingNominatedNodeNameAfterBinding', 'DRAConsumableCapacity', 'DRADeviceBindingConditions', 'DRADeviceTaints', 'DRAExtendedResource',
      'DRAPartitionableDevices', 'DRAPrioritizedList', 'DRAResourceClaimDeviceStatus', 'DRAResourceClaimGranularStatusAuthorization',
      'OpenAPIEnums', 'PodTopologyLabelsAdmission', 'ServiceAccountNodeAudienceRestriction', 'StrictIPCIDRValidation',
    ]);
  });

  it('lists settings that have no effect: gates that cannot be switched, where their default is not asked for', () => {
    assert.deepEqual(listIgnoredGates(['PodsAPI=false', 'WatchList=true', 'PodLogsQuerySplitStreams=true']), []);
    assert.deepEqual(listIgnoredGates(['NativeHistograms=true', 'WatchList=false', 'AllAlpha=true', 'AllAlpha=false']),
      ['WatchList=false', 'NativeHistograms=true']);
    const alpha = listIgnoredGates(['AllAlpha=true', 'StorageVersionAPI=false']);
    assert.ok(alpha.includes('NativeHistograms=true'), alpha.join());
    assert.ok(!alpha.some((text) => /^(?:All|ContainerStopSignals=|StorageVersionAPI=)/.test(text)), alpha.join());
  });

  it('honours gates of other components, and has nothing to report of them', () => {
    assert.deepEqual(listIgnoredGates(['PodsAPI=true', 'MemoryQoS=true', 'GracefulNodeShutdown=false', 'AtomicFIFO=false', 'AllBeta=true']), []);
    assert.equal(listGates(['MemoryQoS=true']).find(({ name }) => name === 'MemoryQoS')?.isOn, true);
  });

  it('can switch all gates that built-in kinds depend on', () => {
    const gates = new Set([...kindSpecs.values()].flatMap((spec) => [...gatesOf(spec)]));
    assert.ok(gates.has('HPAScaleToZero') && gates.has('TaintTolerationComparisonOperators'));
    assert.deepEqual([...gates].filter((gate) => !switchableGates.some((name) => name === gate)), []);
  });

  it('is checked at the start, which reports settings without effect', async () => {
    await assert.rejects(startTestServer({ featureGates: ['NoSuch=true'] }), /--feature-gates unrecognized feature gate: NoSuch/);
    const lines: string[] = [];
    const logger = createLogger({ verbosity: 0, clock: systemClock, write: (line) => void lines.push(line) });
    const server = await startTestServer({ featureGates: ['NativeHistograms=true'], logger });
    await server.close();
    assert.match(lines.join(''), /feature gates that cannot be switched here are ignored","v":0,"gates":"NativeHistograms=true"/);
  });
});

describe('--runtime-config', () => {
  const pathsOf = async (runtimeConfig: readonly string[], featureGates: readonly string[] = []): Promise<string[]> => {
    const server = await startTestServer({ runtimeConfig, featureGates });
    const { body } = await server.request({ path: '/' });
    await server.close();
    return (body as { paths: string[] }).paths.filter((path) => /^\/apis\/.*\/v\d+(?:alpha|beta)/.test(path)).map((path) => path.slice('/apis/'.length));
  };

  it('serves no alpha and no beta version unless a setting asks for it', async () => {
    const settings = [
      'api/ga=true', 'api/beta=false', 'api/alpha=false', 'api/legacy=false', 'v1=true', 'v1', 'apps/v1=', 'apps/v1/deployments=true',
      'batch/v1beta1=false', 'apps/v1/nothing=false', 'apps/v1beta1=true', 'apiextensions.k8s.io/v1beta1=true',
    ];
    assert.deepEqual(await pathsOf(settings), []);
  });

  it('serves the versions that are asked for, by form, by group version and by resource; the most exact setting counts', async () => {
    const beta = await pathsOf(['api/beta=true', 'networking.k8s.io/v1beta1=false']);
    assert.ok(beta.includes('admissionregistration.k8s.io/v1beta1') && !beta.includes('networking.k8s.io/v1beta1'), beta.join());
    assert.ok(!beta.some((path) => path.includes('alpha')), beta.join());
    assert.deepEqual(await pathsOf(['api/all=false', 'api/ga=true', 'networking.k8s.io/v1beta1/ipaddresses=true']), ['networking.k8s.io/v1beta1']);
  });

  it('serves one object in each of the versions', async () => {
    const server = await startTestServer({ runtimeConfig: ['storage.k8s.io/v1beta1=true'] });
    const path = (version: string, name = ''): string => `/apis/storage.k8s.io/${version}/volumeattributesclasses${name}`;
    const body = { metadata: { name: 'gold' }, driverName: 'disk.example.com', parameters: { iops: '100' } };
    assert.equal((await server.request({ method: 'POST', path: path('v1beta1'), body })).body.apiVersion, 'storage.k8s.io/v1beta1');
    assert.equal((await server.request({ path: path('v1', '/gold') })).body.apiVersion, 'storage.k8s.io/v1');
    const list = (await server.request({ path: path('v1beta1') })).body;
    assert.deepEqual([list.apiVersion, list.kind, list.items.length], ['storage.k8s.io/v1beta1', 'VolumeAttributesClassList', 1]);
    assert.equal((await server.request({ path: '/apis/storage.k8s.io/v1beta1/storageclasses' })).status, 404);
    await server.close();
  });

  it('serves what a gate turns on, with the roles that belong to it', async () => {
    const statusesWith = async (featureGates: readonly string[]): Promise<readonly number[]> => {
      const server = await startTestServer({ runtimeConfig: ['certificates.k8s.io/v1beta1=true'], featureGates });
      const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:cluster-trust-bundle-discovery';
      const answers = [await server.request({ path: '/apis/certificates.k8s.io/v1beta1/clustertrustbundles' }), await server.request({ path: role })];
      await server.close();
      return answers.map(({ status }) => status);
    };
    assert.deepEqual(await statusesWith([]), [404, 404]);
    assert.deepEqual(await statusesWith(['ClusterTrustBundle=true']), [200, 200]);
  });

  it('reports resources whose gate is off', async () => {
    const lines: string[] = [];
    const logger = createLogger({ verbosity: 0, clock: systemClock, write: (line) => void lines.push(line) });
    const server = await startTestServer({ runtimeConfig: ['storagemigration.k8s.io/v1beta1=true'], logger });
    await server.close();
    assert.match(lines.join(''), /not served because its feature gate is off","v":0,"resource":"storageversionmigrations","gate":"StorageVersionMigrator"/);
  });

  it('turns off stable versions, by form, by group version and by resource', async (context) => {
    const runtimeConfig = ['apps/v1=false', 'autoscaling/v1=false', 'batch/v1/cronjobs=false'];
    const server = await startTestServer({ runtimeConfig });
    context.after(() => server.close());
    const statusOf = async (path: string): Promise<number> => (await server.request({ path })).status;
    const paths = ['/apis/apps/v1', '/apis/apps/v1/deployments', '/apis/autoscaling/v1/horizontalpodautoscalers', '/apis/batch/v1/cronjobs',
      '/apis/autoscaling/v2/horizontalpodautoscalers', '/apis/batch/v1/jobs', '/api/v1/pods', '/openapi/v3/apis/apps/v1'];
    assert.deepEqual(await Promise.all(paths.map(statusOf)), [404, 404, 404, 404, 200, 200, 200, 404]);
    const { body: groups } = await server.request({ path: '/apis' });
    const versions = new Map((groups.groups as { name: string; versions: { version: string }[] }[]).map((group) =>
      [group.name, group.versions.map(({ version }) => version).join()]));
    assert.deepEqual([versions.get('apps'), versions.get('autoscaling'), versions.get('batch')], [undefined, 'v2', 'v1']);
    const { body: batch } = await server.request({ path: '/apis/batch/v1' });
    assert.deepEqual((batch.resources as { name: string }[]).map(({ name }) => name), ['jobs', 'jobs/status']);
    const services = await server.request({ path: '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps' });
    assert.equal(services.status, 404);
  });

  it('serves nothing but what a setting turns on again, and works with the rest', async (context) => {
    const runtimeConfig = [
      'api/all=false', 'api/v1=true', 'api/v1/endpoints=false', 'apiregistration.k8s.io/v1=true', 'apiregistration.k8s.io/v1/apiservices=false',
    ];
    const server = await startTestServer({ runtimeConfig, enablePriorityAndFairness: false });
    context.after(() => server.close());
    const { body } = await server.request({ path: '/' });
    assert.deepEqual((body as { paths: string[] }).paths.filter((path) => path.startsWith('/apis/') && path.length > '/apis/'.length), []);
    const created = await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'alone' } } });
    assert.equal(created.status, 201);
    assert.equal((await server.request({ path: '/api/v1/namespaces/alone/endpoints' })).status, 404);
    await assert.rejects(startTestServer({ runtimeConfig: ['api/all=false'], enablePriorityAndFairness: false }),
      /^StartError: invalid runtime-config with only api\/all=false/);
  });

  it('refuses what kube-apiserver refuses, in its words', async () => {
    const refused: readonly (readonly [setting: string, problem: RegExp])[] = [
      ['foo.example.com/v1=true', /unknown api groups foo\.example\.com\/v1/], ['api/constructor=true', /unknown api groups api\/constructor/],
      ['api/v2=true', /unknown api groups api\/v2/],
      ['foo=true', /runtime-config invalid key foo/], ['a/b/c/d=true', /runtime-config invalid key a\/b\/c\/d/], ['v1=maybe', /invalid value of v1: maybe/],
      ['api/all=maybe', /invalid value api\/all=maybe/], ['apps/v9=true', /group version apps\/v9 that has not been registered/],
      ['apiregistration.k8s.io/v1=false', /API group\/version apiregistration\.k8s\.io\/v1 must be enabled/],
      ['apps/v1/Deployments=true', /resource is always lowercase plural, not "Deployments"/],
    ];
    for (const [setting, problem] of refused) await assert.rejects(startTestServer({ runtimeConfig: [setting] }), problem, setting);
  });
});
