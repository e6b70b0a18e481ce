// `npm run cluster`: a whole cluster of one real node around this server, in a network namespace of its own: kube-controller-manager, kube-scheduler,
// kubelet and kube-proxy from the folder that PINTLE_NODE_BIN names, CoreDNS where a `coredns` is there too; containerd, runc, CNI plugins and a static
// busybox from the system. The kubelet joins by TLS bootstrap. It needs root and Linux, takes seconds, and is gone with the process.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DNS_ADDRESS, dnsObjects } from './dns.ts';
import { writeImage } from './image.ts';
import { BOX_IMAGE, PAUSE_IMAGE, listImages } from './images.ts';
import { joinObjects, makeBootstrapToken, tokenKubeconfig } from './join.ts';
import { type Reference, aggregationFlags, apiserverFlags, etcdFlags } from './reference.ts';

const program = fileURLToPath(new URL('../../bin/pintle.js', import.meta.url));
const nodePrograms = ['kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy'];
const systemPrograms = ['containerd', 'ctr', 'runc', 'ip', 'nsenter', 'iptables', 'conntrack', 'busybox', 'tar', 'kubectl'];
const CNI_FOLDER = '/usr/lib/cni';
/** The address of the node, and of everything that runs on it. */
const NODE_ADDRESS = '10.99.0.2';
/** kube-controller-manager has these. */
const ABSENT_CONTROLLERS = ['garbage-collector', 'namespace', 'serviceaccount', 'serviceaccount-token', 'root-ca-cert-publisher',
  'clusterrole-aggregation', 'csrsigning', 'resourcequota'].map((name) => `-${name}`).join();
const READY_MS = 240_000;
/** Lists of thousands of pods. */
const MAX_OUTPUT_BYTES = 2 ** 28;

/** A cluster that runs. */
export interface Cluster {
  readonly kubeconfig: string;
  /** The network namespace that all of it is in. */
  readonly namespace: string;
  readonly work: string;
  stop(): Promise<void>;
}

/** The folders of PINTLE_NODE_BIN. */
export const nodeFolders = (): string[] => (process.env['PINTLE_NODE_BIN'] ?? '').split(delimiter).filter((folder) => folder !== '');

/** Where a program is; undefined where it is not. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  return findFile(name, folders, constants.X_OK);
}

function findFile(name: string, folders: readonly string[], access: number): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, access);
      return true;
    } catch {
      return false;
    }
  });
}

const systemFolders = (): string[] => [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

/** What a cluster is started from. */
interface Needs {
  /** Programs in the folders of PINTLE_NODE_BIN. */
  readonly programs: readonly string[];
  /** Programs of the system. */
  readonly system: readonly string[];
  readonly plugins: boolean;
}

const needsOfNode: Needs = { programs: nodePrograms, system: systemPrograms, plugins: true };

/** Why no cluster can be started here; undefined where one can. */
export function findObstacle({ programs, system, plugins }: Needs = needsOfNode): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'a node needs root on Linux';
  if (nodeFolders().length === 0) return `PINTLE_NODE_BIN names no folder with ${programs.join(', ')}`;
  const missing = [
    ...programs.filter((name) => findProgram(name, nodeFolders()) === undefined),
    ...system.filter((name) => findProgram(name, systemFolders()) === undefined),
    ...(plugins && findProgram('bridge', [CNI_FOLDER]) === undefined ? [`CNI plugins in ${CNI_FOLDER}`] : []),
  ];
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
}

/** The snapshotter of containerd: layers over each other where a file system can lie over that of `work`, copies where not. */
function chooseSnapshotter(work: string): string {
  const [lower, upper, scratch, top] = ['lower', 'upper', 'scratch', 'top'].map((name) => join(work, 'overlay', name)) as [string, string, string, string];
  for (const folder of [lower, upper, scratch, top]) mkdirSync(folder, { recursive: true });
  const { status } = spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${scratch}`, top]);
  return status === 0 && spawnSync('umount', [top]).status === 0 ? 'overlayfs' : 'native';
}

const containerdConfig = (work: string, snapshotter: string): string => `version = 2
root = "${work}/root"
state = "${work}/state"
[grpc]
  address = "${work}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${CNI_FOLDER}"
    conf_dir = "${work}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${snapshotter}"
`;

const cniConfig = (namespace: string): object => ({
  cniVersion: '0.4.0', name: namespace, plugins: [
    { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
});

const kubeletConfig = (work: string, features: Readonly<Record<string, boolean>>): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', failCgroupV1: false, cgroupDriver: 'cgroupfs', cgroupsPerQOS: false,
  enforceNodeAllocatable: [], failSwapOn: false, containerRuntimeEndpoint: `unix://${work}/containerd.sock`, clusterDomain: 'cluster.local',
  clusterDNS: [DNS_ADDRESS],
  // A kubelet removes logs of pods that it does not know, those of another cluster on this machine for instance.
  podLogsDir: `${work}/logs`,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }, authorization: { mode: 'AlwaysAllow' },
  evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%' }, imageGCHighThresholdPercent: 100, featureGates: features,
});

/** The parts of a cluster that is coming up or going down. */
class RunningCluster implements Cluster {
  readonly work = mkdtempSync(join(tmpdir(), 'pintle-cluster-'));
  readonly namespace = `pintle${process.pid}`;
  readonly kubeconfig = join(this.work, 'data', 'admin.kubeconfig');
  /** What kubelets ask for their certificates with. */
  readonly bootstrapKubeconfig = join(this.work, 'bootstrap.kubeconfig');
  readonly #children: ChildProcess[] = [];
  readonly #servers: ChildProcess[] = [];

  /** The server, and the etcd that it has. */
  get serverPids(): readonly number[] {
    return this.#servers.map(({ pid }) => pid as number);
  }

  /** Runs a part of the server. */
  serve(name: string, command: string, args: readonly string[]): void {
    this.#servers.push(this.run(name, command, args));
  }

  run(name: string, command: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.work, `${name}.log`), 'w');
    const inside = [`--net=/run/netns/${this.namespace}`, command, ...args];
    const child = spawn('nsenter', inside, { stdio: ['ignore', log, log], detached: true });
    this.#children.push(child);
    return child;
  }

  inside(command: string, ...args: readonly string[]): string {
    const inside = [`--net=/run/netns/${this.namespace}`, command, ...args];
    return execFileSync('nsenter', inside, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: MAX_OUTPUT_BYTES });
  }

  apply(objects: readonly object[]): void {
    const args = [`--net=/run/netns/${this.namespace}`, 'kubectl', '--kubeconfig', this.kubeconfig, 'apply', '-f', '-'];
    execFileSync('nsenter', args, { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }), stdio: ['pipe', 'ignore', 'inherit'] });
  }

  kubectl(...args: readonly string[]): string {
    return this.inside('kubectl', '--kubeconfig', this.kubeconfig, ...args);
  }

  /** Asks until the answer is what is waited for. */
  async until(what: string, ask: () => boolean): Promise<void> {
    const end = Date.now() + READY_MS;
    while (Date.now() < end) {
      try {
        if (ask()) return;
      } catch {
        // It does not answer yet.
      }
      await setTimeout(200);
    }
    throw new Error(`${what} did not come up: the logs are in ${this.work}`);
  }

  makeNetwork(): void {
    execFileSync('ip', ['netns', 'add', this.namespace]);
    const commands = ['link set lo up', 'link add eth0 type bridge', `addr add ${NODE_ADDRESS}/24 dev eth0`, 'link set eth0 up',
      'route add default via 10.99.0.1 dev eth0'];
    for (const command of commands) this.inside('ip', ...command.split(' '));
  }

  async stop(): Promise<void> {
    const ctr = ['-a', join(this.work, 'containerd.sock'), '-n', 'k8s.io'];
    const hasContainers = existsSync(join(this.work, 'containerd.sock'));
    const listTasks = (): string[] => (hasContainers ? spawnSync('ctr', [...ctr, 'tasks', 'ls', '-q'], { encoding: 'utf8' }).stdout ?? '' : '')
      .split('\n').filter((id) => id !== '');
    spawnSync('nsenter', [`--net=/run/netns/${this.namespace}`, 'kubectl', '--kubeconfig', this.kubeconfig, 'delete', 'pods', '-A', '--all',
      '--grace-period=0', '--force', '--wait=false'], { stdio: 'ignore', timeout: 10_000 });
    // The kubelet takes networks and mounts of pods away.
    for (let tries = 0; tries < 50 && listTasks().length > 0; tries++) await setTimeout(200);
    for (const child of this.#children.reverse()) {
      const gone = new Promise((resolve) => child.on('exit', resolve));
      if (child.exitCode !== null || child.pid === undefined) continue;
      process.kill(-child.pid, 'SIGTERM');
      await Promise.race([gone, setTimeout(5_000)]);
    }
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${this.work}/`));
    for (const mount of mounts.sort().reverse()) spawnSync('umount', [mount]);
    spawnSync('ip', ['netns', 'del', this.namespace]);
    rmSync(this.work, { recursive: true, force: true });
  }
}

/** What a cluster is made of. */
export interface ClusterOptions {
  /** Feature gates of the kubelet. */
  readonly kubeletFeatures?: Readonly<Record<string, boolean>>;
  /** Further flags of kube-controller-manager and kube-scheduler. */
  readonly controllerFlags?: readonly string[];
  /** Further flags of the server. */
  readonly flags?: readonly string[];
  /** The server is kube-apiserver. */
  readonly reference?: Reference;
}

async function startServer(cluster: RunningCluster, { flags = [], reference }: ClusterOptions): Promise<void> {
  const data = join(cluster.work, 'data');
  const isReady = (): boolean => cluster.kubectl('get', '--raw', '/readyz') === 'ok';
  const own = [program, `--data-dir=${data}`, '--secure-port=6443', `--bind-address=${NODE_ADDRESS}`, '--service-cluster-ip-range=10.96.0.0/16',
    `--controllers=*,${ABSENT_CONTROLLERS}`];
  // The first start makes the authority and the certificates that the flags below name.
  const first = cluster.run('first-start', process.execPath, own);
  await cluster.until('the first start', isReady);
  const ended = new Promise((resolve) => first.on('exit', resolve));
  process.kill(-(first.pid as number), 'SIGTERM');
  await ended;
  const same = ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction', '--enable-bootstrap-token-auth',
    '--kubelet-preferred-address-types=InternalIP', '--allow-privileged', ...aggregationFlags(data), ...flags];
  if (reference === undefined) cluster.serve('pintle', process.execPath, [...own, ...same]);
  else {
    cluster.serve('etcd', reference.etcd, etcdFlags(cluster.work));
    cluster.serve('kube-apiserver', reference.apiserver, [...apiserverFlags(data, NODE_ADDRESS), '--service-cluster-ip-range=10.96.0.0/16', ...same]);
  }
  await cluster.until('the server', isReady);
}

/** Gives containerd the images that pods may use. */
function importImages({ work }: RunningCluster, snapshotter: string, ctr: (...args: readonly string[]) => string): void {
  const busybox = findProgram('busybox', systemFolders()) ?? '';
  for (const image of listImages(busybox, (name) => findFile(name, nodeFolders(), constants.R_OK), (name) => findProgram(name, systemFolders()))) {
    writeImage(join(work, 'image.tar'), image);
    ctr('images', 'import', '--snapshotter', snapshotter, join(work, 'image.tar'));
  }
}

const programOf = (name: string): string => findProgram(name, nodeFolders()) ?? name;

/** kube-controller-manager and kube-scheduler, and what lets kubelets join. */
function startControllers(cluster: RunningCluster, { controllerFlags = [] }: ClusterOptions): void {
  const { work, kubeconfig } = cluster;
  const pki = join(work, 'data', 'pki');
  const same = [`--kubeconfig=${kubeconfig}`, `--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`,
    '--leader-elect=false', '--secure-port=0', ...controllerFlags];
  cluster.run('kube-controller-manager', programOf('kube-controller-manager'), [...same, '--use-service-account-credentials=true',
    `--cluster-signing-cert-file=${pki}/ca.crt`, `--cluster-signing-key-file=${pki}/ca.key`]);
  cluster.run('kube-scheduler', programOf('kube-scheduler'), same);
  const token = makeBootstrapToken();
  cluster.apply(joinObjects(token));
  const bootstrap = tokenKubeconfig(`https://${NODE_ADDRESS}:6443`, `${pki}/ca.crt`, `${token.id}.${token.secret}`);
  writeFileSync(cluster.bootstrapKubeconfig, JSON.stringify(bootstrap), { mode: 0o600 });
}

async function startNode(cluster: RunningCluster, { kubeletFeatures = {} }: ClusterOptions): Promise<void> {
  const { work, kubeconfig, namespace } = cluster;
  mkdirSync(join(work, 'cni'));
  writeFileSync(join(work, 'cni', '10-bridge.conflist'), JSON.stringify(cniConfig(namespace)));
  const snapshotter = chooseSnapshotter(work);
  writeFileSync(join(work, 'containerd.toml'), containerdConfig(work, snapshotter));
  writeFileSync(join(work, 'kubelet.yaml'), JSON.stringify(kubeletConfig(work, kubeletFeatures)));
  cluster.run('containerd', 'containerd', ['-c', join(work, 'containerd.toml')]);
  const ctr = (...args: readonly string[]): string => cluster.inside('ctr', '-a', join(work, 'containerd.sock'), '-n', 'k8s.io', ...args);
  await cluster.until('containerd', () => ctr('version') !== '');
  importImages(cluster, snapshotter, ctr);
  cluster.run('kubelet', programOf('kubelet'), [`--kubeconfig=${work}/kubelet.kubeconfig`, `--bootstrap-kubeconfig=${cluster.bootstrapKubeconfig}`,
    `--config=${work}/kubelet.yaml`, '--hostname-override=node', `--node-ip=${NODE_ADDRESS}`, `--root-dir=${work}/kubelet`, `--cert-dir=${work}/kubelet/pki`]);
  cluster.run('kube-proxy', programOf('kube-proxy'), [`--kubeconfig=${kubeconfig}`, '--proxy-mode=iptables',
    '--cluster-cidr=10.244.0.0/24', '--hostname-override=node',
    '--conntrack-max-per-core=0', '--conntrack-tcp-timeout-established=0', '--conntrack-tcp-timeout-close-wait=0']);
  await cluster.until('the node', () => / Ready/.test(cluster.kubectl('get', 'nodes')));
  await cluster.until('the service account of pods', () => cluster.kubectl('get', 'serviceaccount', 'default', '-o', 'name') !== '');
  if (findProgram('coredns', nodeFolders()) !== undefined) cluster.apply(dnsObjects);
}

async function start(options: ClusterOptions, startNodes: (cluster: RunningCluster) => Promise<void>): Promise<RunningCluster> {
  const cluster = new RunningCluster();
  try {
    cluster.makeNetwork();
    await startServer(cluster, options);
    startControllers(cluster, options);
    await startNodes(cluster);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Starts a cluster; resolves when its node is ready. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const obstacle = findObstacle();
  if (obstacle !== undefined) throw new Error(obstacle);
  return start(options, (cluster) => startNode(cluster, options));
}

/** A cluster without nodes, to which the caller adds some. */
export type ControlPlane = Pick<RunningCluster, keyof Cluster | 'serverPids' | 'bootstrapKubeconfig' | 'run' | 'apply' | 'kubectl'>;

/** Starts a server with its controllers and scheduler. */
export const startControlPlane = (options: ClusterOptions): Promise<ControlPlane> => start(options, async () => {});

async function main(): Promise<void> {
  const obstacle = findObstacle();
  if (obstacle !== undefined) {
    process.stderr.write(`${obstacle}\n`);
    process.exitCode = 1;
    return;
  }
  const cluster = await startCluster({ flags: process.argv.slice(2) });
  process.stdout.write(`nsenter --net=/run/netns/${cluster.namespace} kubectl --kubeconfig ${cluster.kubeconfig} get nodes\n`
    + `pods may use the image ${BOX_IMAGE}; logs are in ${cluster.work}; Ctrl-C takes all of it away\n`);
  const keepAlive = setInterval(() => {}, 2 ** 30);
  await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  clearInterval(keepAlive);
  await cluster.stop();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
