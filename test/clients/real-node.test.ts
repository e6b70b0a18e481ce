// What passes through the server to a real kubelet, with the kubectls at hand: logs, commands, copies, terminals, ports, proxies, and what metrics-server
// in a pod has measured. The kubelet takes no WebSockets, so that those of newer clients are translated; older ones speak SPDY.
import assert from 'node:assert/strict';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Cluster, findObstacle, findProgram, nodeFolders, startCluster } from '../../scripts/cluster/cluster.ts';
import { BOX_IMAGE } from '../../scripts/cluster/images.ts';
import { eventually } from '../../src/test-support/index.ts';
import { findKubectls } from './kubectl.ts';

const kubectls = findKubectls();
const obstacle = findObstacle() ?? (kubectls.length === 0 ? 'no kubectl on PATH and none in PINTLE_KUBECTL' : undefined);
const script = 'mkdir /www; echo "<a href=/x>hi</a>" > /www/index.html; httpd -p 8080 -h /www; echo first; echo second; '
  + 'while read line; do echo "got $line"; done';
const pod = {
  apiVersion: 'v1', kind: 'Pod', metadata: {
    name: 'box', labels: { app: 'box' }, annotations: { 'kubectl.kubernetes.io/default-container': 'main' },
  }, spec: {
    terminationGracePeriodSeconds: 0, containers: [
      { name: 'main', image: BOX_IMAGE, imagePullPolicy: 'Never', stdin: true, command: ['sh', '-c', script], ports: [{ containerPort: 8080 }] },
    ],
  },
};
const ports = [{ name: 'web', port: 80, targetPort: 8080 }];
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'box' }, spec: { selector: { app: 'box' }, ports } };

const metricsPod = {
  serviceAccountName: 'metrics-server', containers: [{
    name: 'main', image: 'localhost/metrics-server:1', imagePullPolicy: 'Never', ports: [{ containerPort: 4443 }], args: ['--secure-port=4443',
      '--cert-dir=/tmp', '--kubelet-insecure-tls', '--kubelet-preferred-address-types=InternalIP', '--metric-resolution=12s'],
  }],
};
const inSystem = { name: 'metrics-server', namespace: 'kube-system' };
const metricsLabels = { app: 'metrics-server' };
const metricsObjects = [
  { apiVersion: 'v1', kind: 'Service', metadata: inSystem, spec: { selector: metricsLabels, ports: [{ port: 4443 }] } },
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: inSystem, spec: {
    selector: { matchLabels: metricsLabels }, template: { metadata: { labels: metricsLabels }, spec: metricsPod },
  } },
];

describe('a real node', { skip: obstacle ?? false }, () => {
  let cluster: Cluster;
  let kubectl = '';
  const inside = (): string[] => [`--net=/run/netns/${cluster.namespace}`];
  const argumentsOf = (args: readonly string[]): string[] => [...inside(), kubectl, '--kubeconfig', cluster.kubeconfig, ...args];
  const run = (args: readonly string[], input = ''): SpawnSyncReturns<string> =>
    spawnSync('nsenter', argumentsOf(args), { encoding: 'utf8', input, timeout: 30_000, maxBuffer: 2 ** 26 });
  const print = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = run(args);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  before(async () => {
    cluster = await startCluster({ kubeletFeatures: { ExtendWebSocketsToKubelet: false } });
    kubectl = kubectls[0]?.path ?? '';
    for (const object of [pod, service]) {
      const { status, stderr } = run(['apply', '-f', '-'], JSON.stringify(object));
      assert.equal(status, 0, stderr);
    }
    await eventually(async () => assert.match(print('get', 'endpoints', 'box', '--no-headers'), /:8080/), 60_000);
  });
  after(() => cluster?.stop());

  test('joined with a certificate that it asked for by a bootstrap token', () => {
    const request = print('get', 'csr', '-o', 'jsonpath={.items[0].spec.username} {.items[0].status.conditions[*].type} {.items[0].spec.signerName}');
    assert.match(request, /^system:bootstrap:[0-9a-f]{6} Approved kubernetes\.io\/kube-apiserver-client-kubelet$/);
  });

  test('keeps the logs of its pods in its own folder, where no other cluster removes them', () => {
    assert.ok(readdirSync(join(cluster.work, 'logs')).some((name) => name.startsWith('default_box_')));
  });

  const noDns = findProgram('coredns', nodeFolders()) === undefined && 'no coredns in PINTLE_NODE_BIN';
  test('resolves names of Services in pods', { skip: noDns, timeout: 120_000 }, async () => {
    await eventually(async () => assert.match(print('get', 'deployment', 'coredns', '-n', 'kube-system', '--no-headers'), / 1\/1 /), 60_000);
    const address = print('get', 'service', 'box', '-o', 'jsonpath={.spec.clusterIP}');
    assert.ok(print('exec', 'box', '--', 'nslookup', 'box.default.svc.cluster.local').includes(`Address: ${address}`));
  });

  const noMetrics = findProgram('metrics-server', nodeFolders()) === undefined && 'no metrics-server in PINTLE_NODE_BIN';
  test('is measured by metrics-server in a pod, for every kubectl', { skip: noMetrics, timeout: 300_000 }, async () => {
    print('apply', '-f', fileURLToPath(new URL('../../../deploy/metrics-server.yaml', import.meta.url)));
    // That of the file leads to a program on the machine of the server.
    print('delete', 'service', '-n', 'kube-system', 'metrics-server');
    for (const object of metricsObjects) assert.equal(run(['apply', '-f', '-'], JSON.stringify(object)).status, 0);
    for (const { path } of kubectls) {
      kubectl = path;
      await eventually(async () => assert.match(print('top', 'nodes', '--no-headers'), /^node +\d+m +\d+% +\d+Mi +\d+%/), 180_000);
      await eventually(async () => assert.match(print('top', 'pods', '--no-headers', '--containers'), /^box +main +\d+m +\d+Mi/), 60_000);
    }
  });

  for (const { path, version } of kubectls) {
    test(`answers kubectl ${version}`, { timeout: 120_000 }, async () => {
      kubectl = path;
      assert.match(print('logs', 'box'), /^first\nsecond\n/);
      assert.equal(print('logs', 'box', '--limit-bytes=5'), 'first');
      const failed = run(['exec', 'box', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
      assert.deepEqual([failed.stdout, failed.stderr.split('\n')[0], failed.status], ['out\n', 'err', 3]);
      assert.equal(run(['exec', '-i', 'box', '--', 'wc', '-c'], 'hello').stdout.trim(), '5');
      assert.equal(print('exec', 'box', '--', 'head', '-c', '5000000', '/dev/zero').length, 5_000_000);
      const file = join(cluster.work, 'copied');
      const content = randomBytes(300_000);
      writeFileSync(file, content);
      print('cp', file, `box:/tmp/copied-${version}`);
      print('cp', `box:/tmp/copied-${version}`, `${file}-back`);
      assert.ok(content.equals(readFileSync(`${file}-back`)));
      assert.equal(print('get', '--raw', '/api/v1/nodes/node/proxy/healthz'), 'ok');
      for (const name of ['pods/box', 'services/box:web', 'services/box:80']) {
        const prefix = `/api/v1/namespaces/default/${name}/proxy`;
        assert.equal(print('get', '--raw', `${prefix}/`), `<a href="${prefix}/x">hi</a>\n`);
      }
    });

    test(`gives kubectl ${version} a terminal, a debugging container and a proxy`, { timeout: 120_000 }, async () => {
      kubectl = path;
      const container = `--container=debug-${version.replace('.', '-')}`;
      const debugged = run(['debug', 'box', `--image=${BOX_IMAGE}`, container, '--attach', '--', 'sh', '-c', 'sleep 3; echo debugged']);
      assert.match(debugged.stdout, /debugged/, debugged.stderr);
      // `script` gives kubectl a terminal of its own.
      const size = "'tty; sleep 1; shopt -s checkwinsize; (:;:); echo $LINES $COLUMNS'";
      const command = ['nsenter', ...argumentsOf(['exec', '-it', 'box', '--', 'sh', '-c', size])].join(' ');
      const terminal = spawnSync('script', ['-qec', `stty rows 31 cols 97; ${command}`, '/dev/null'], { encoding: 'utf8', timeout: 30_000 });
      // `script` ends its empty input with a character that the terminal shows.
      assert.match(terminal.stdout, /\/dev\/pts\/\d+\r\n(\^@)?31 97\r\n/);
      const proxy = spawn('nsenter', argumentsOf(['proxy', '--port=0']));
      try {
        const said = await new Promise<string>((resolve) => proxy.stdout.once('data', (chunk) => resolve(String(chunk))));
        const url = `http://${/127\.0\.0\.1:\d+/.exec(said)?.[0]}/api/v1/namespaces/default/pods/box/log?limitBytes=5`;
        assert.equal(spawnSync('nsenter', [...inside(), 'busybox', 'wget', '-q', '-O', '-', url], { encoding: 'utf8' }).stdout, 'first');
      } finally {
        proxy.kill();
      }
    });

    test(`holds connections of kubectl ${version} open`, { timeout: 120_000 }, async () => {
      kubectl = path;
      const follow = spawn('nsenter', argumentsOf(['logs', '-f', 'box', '--tail=0']));
      const attach = spawn('nsenter', argumentsOf(['attach', '-i', '-q', 'box']));
      const forward = spawn('nsenter', argumentsOf(['port-forward', 'pod/box', '18080:8080']));
      const texts = new Map<unknown, string>();
      for (const child of [follow, attach, forward]) child.stdout.on('data', (chunk) => texts.set(child, `${texts.get(child) ?? ''}${String(chunk)}`));
      try {
        await eventually(async () => assert.match(texts.get(forward) ?? '', /Forwarding from/), 20_000);
        for (let tries = 0; tries < 3; tries++) {
          const fetch = [...inside(), 'busybox', 'wget', '-q', '-O', '-', 'http://127.0.0.1:18080/'];
          const fetched = spawnSync('nsenter', fetch, { encoding: 'utf8', timeout: 20_000 });
          assert.match(fetched.stdout, /href=\/x/);
        }
        await eventually(async () => {
          attach.stdin.write(`from ${version}\n`);
          for (const child of [follow, attach]) assert.match(texts.get(child) ?? '', new RegExp(`got from ${version}`));
        }, 20_000);
      } finally {
        for (const child of [follow, attach, forward]) child.kill();
      }
    });
  }
});
