// What Terraform does with its kubernetes provider on a server, from the first plan to the last destroy: typed resources, manifests that are planned by
// OpenAPI v2 and applied by server-side apply, a definition and an object of its kind, drift, a conflict and imports.
import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Peer } from '../differential/servers.ts';
import type { Life } from './lives.ts';

/** The program of Terraform, and that of the provider. */
export interface Programs {
  readonly terraform: string;
  readonly provider: string;
}

/** One command: how it ended, and what it said or would change. */
export interface Step {
  readonly name: string;
  readonly code: number;
  readonly changes?: readonly { readonly address: string; readonly change: { readonly actions: readonly string[] } }[];
  readonly said?: string;
}

/** How far a configuration has come. */
interface Stage {
  readonly hasBackup?: boolean;
  readonly isChanged?: boolean;
  readonly hasFound?: boolean;
}

const namespace = '${kubernetes_namespace_v1.shop.metadata[0].name}';
const labels = { app: 'web' };
const paths = [
  '/api/v1/namespaces/shop', ...['configmaps/prices', 'secrets/key', 'serviceaccounts/web', 'services/web'].map((path) => `/api/v1/namespaces/shop/${path}`),
  '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/web', '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/web',
  '/apis/apps/v1/namespaces/shop/deployments/web', '/apis/apps/v1/namespaces/default/deployments/api', '/api/v1/namespaces/default/configmaps/settings',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com', '/apis/example.com/v1/namespaces/default/crontabs/backup',
];

const typed = ({ isChanged = false, hasFound = false }: Stage): object => {
  const metadata = { name: 'web', namespace };
  const container = { name: 'web', image: 'nginx:1', port: [{ container_port: 80 }], resources: { limits: { cpu: '500m' } } };
  return {
    kubernetes_namespace_v1: { shop: { metadata: { name: 'shop', labels: { team: 'a' } } } },
    kubernetes_config_map_v1: {
      prices: { metadata: { name: 'prices', namespace }, data: { apple: isChanged ? '4' : '3' } },
      ...(hasFound && { found: { metadata: { name: 'found', namespace: 'default' }, data: { a: 'b' } } }),
    },
    kubernetes_secret_v1: { key: { metadata: { name: 'key', namespace }, data: { key: 'value' } } },
    kubernetes_service_account_v1: { web: { metadata } },
    kubernetes_role_v1: { web: { metadata, rule: [{ api_groups: [''], resources: ['pods'], verbs: isChanged ? ['get', 'list'] : ['get'] }] } },
    kubernetes_role_binding_v1: { web: { metadata, role_ref: { api_group: 'rbac.authorization.k8s.io', kind: 'Role', name: 'web' },
      subject: [{ kind: 'ServiceAccount', name: 'web', namespace }] } },
    kubernetes_service_v1: { web: { metadata, spec: { selector: labels, port: [{ port: 80, target_port: 8080 }] } } },
    kubernetes_deployment_v1: { web: { metadata: { ...metadata, labels }, wait_for_rollout: false, spec: {
      replicas: isChanged ? 3 : 2, selector: { match_labels: labels }, template: { metadata: { labels }, spec: { container: [container] } } } } },
  };
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'crontabs.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {
      schedule: { type: 'string', default: '* * * * *' }, replicas: { type: 'integer' },
      env: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } } } },
    } } } } } }],
  },
};

const manifests = ({ isChanged = false, hasBackup = false, hasFound = false }: Stage): object => {
  const template = { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'api', image: 'api:1', ports: [{ containerPort: 80 }] }] } };
  const api = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api', namespace: 'default', labels: { app: 'api' } },
    spec: { replicas: isChanged ? 2 : 1, selector: { matchLabels: { app: 'api' } }, template } };
  const backup = { apiVersion: 'example.com/v1', kind: 'CronTab', metadata: { name: 'backup', namespace: 'default' },
    spec: { replicas: isChanged ? 2 : 1, env: [{ name: 'A', value: 'b' }] } };
  const configMap = (name: string, data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data });
  return {
    definition: { manifest: definition }, settings: { manifest: configMap('settings', { color: isChanged ? 'red' : 'blue' }) },
    api: { manifest: api, field_manager: { force_conflicts: true } }, ...(hasBackup && { backup: { manifest: backup } }),
    ...(hasFound && { met: { manifest: configMap('met', { a: 'b' }) } }),
  };
};

/** Values that differ from run to run, in objects and in the state. */
const changing = new Set(['uid', 'resourceVersion', 'resource_version', 'creationTimestamp', 'time', 'lastTransitionTime', 'clusterIP', 'clusterIPs',
  'cluster_ip', 'cluster_ips']);
const blank = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, member: unknown) => (changing.has(key) && member !== null ? '…' : member)));

/** Terraform in a folder of its own, on one server. */
class Workspace {
  readonly steps: Step[] = [];
  readonly objects: Record<string, unknown> = {};
  readonly #folder: string;
  readonly #server: Peer;
  readonly #terraform: string;

  constructor(folder: string, server: Peer, { terraform, provider }: Programs) {
    this.#folder = folder;
    this.#server = server;
    this.#terraform = terraform;
    // A mirror on disk: no registry is asked.
    const mirror = join(folder, `mirror/registry.terraform.io/hashicorp/kubernetes/99.0.0/${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`);
    mkdirSync(mirror, { recursive: true });
    symlinkSync(provider, join(mirror, 'terraform-provider-kubernetes_v99.0.0_x5'));
    writeFileSync(join(folder, 'terraform.rc'), `disable_checkpoint = true\nprovider_installation { filesystem_mirror { path = "${join(folder, 'mirror')}" } }\n`);
  }

  configure(stage: Stage): void {
    writeFileSync(join(this.#folder, 'main.tf.json'), JSON.stringify({
      terraform: { required_providers: { kubernetes: { source: 'hashicorp/kubernetes' } } },
      provider: { kubernetes: { host: this.#server.url, token: 'admin-token', insecure: true } },
      resource: { ...typed(stage), kubernetes_manifest: manifests(stage) },
    }, undefined, 2));
  }

  /** A command; what it said is kept where it fails. */
  async do(name: string, command: string, ...args: readonly string[]): Promise<void> {
    const { code, said } = await this.#run([command, '-no-color', '-input=false', ...args]);
    this.steps.push({ name, code, ...(code !== 0 && { said: said.slice(said.indexOf('Error: ')) }) });
  }

  /** A plan: with what it would change, and from what to what. */
  async plan(name: string): Promise<void> {
    const { code, said } = await this.#run(['plan', '-detailed-exitcode', '-out=plan', '-no-color', '-input=false']);
    if (code === 1) return void this.steps.push({ name, code, said });
    const { resource_changes: changes } = JSON.parse((await this.#run(['show', '-json', 'plan'])).said) as { resource_changes: Required<Step>['changes'] };
    this.steps.push({ name, code, changes: blank(changes.filter(({ change: { actions } }) => actions[0] !== 'no-op')) as Required<Step>['changes'] });
  }

  /** Keeps what the server and the state of Terraform have. */
  async look(name: string): Promise<void> {
    for (const path of paths) {
      const { status, body } = await this.#server.client.request({ path });
      this.objects[`${name} ${path}`] = status === 200 ? blank(body) : status;
    }
    const { values } = JSON.parse((await this.#run(['show', '-json'])).said) as { values?: { root_module: { resources: readonly { address: string }[] } } };
    for (const { address, ...resource } of values?.root_module.resources ?? []) this.objects[`${name} ${address}`] = blank(resource);
  }

  async #run(args: readonly string[]): Promise<{ code: number; said: string }> {
    const env = { PATH: process.env['PATH'], HOME: this.#folder, TF_CLI_CONFIG_FILE: join(this.#folder, 'terraform.rc') };
    const child = spawn(this.#terraform, args, { cwd: this.#folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number>((resolve, reject) => child.once('error', reject).once('close', (code) => resolve(code ?? -1)));
    const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, said: out + errors };
  }
}

/** Runs all of it in an empty folder. */
export async function liveWithTerraform(folder: string, server: Peer, programs: Programs): Promise<Life<Step>> {
  const workspace = new Workspace(folder, server, programs);
  const write = async (method: string, path: string, body: object): Promise<void> => {
    const type = method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
    const { status, text: said } = await server.client.request({ method, path: `${path}?fieldManager=someone`, body, ...type });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${said}`);
  };
  workspace.configure({});
  await workspace.do('init', 'init');
  await workspace.plan('plan');
  await workspace.do('apply', 'apply', 'plan');
  await workspace.plan('plan without a change');
  workspace.configure({ hasBackup: true });
  await workspace.plan('plan of an object of the new kind');
  await workspace.do('apply of an object of the new kind', 'apply', 'plan');
  await workspace.look('made');
  workspace.configure({ hasBackup: true, isChanged: true });
  await workspace.plan('plan of changes');
  await workspace.do('apply of changes', 'apply', 'plan');
  await workspace.plan('plan after changes');
  await workspace.look('changed');
  await write('PATCH', '/api/v1/namespaces/shop/configmaps/prices', { data: { apple: '9', pear: '1' } });
  await write('PATCH', '/apis/apps/v1/namespaces/default/deployments/api', { spec: { replicas: 5 } });
  await workspace.plan('plan of drift');
  await workspace.do('apply over drift', 'apply', 'plan');
  await workspace.look('drift');
  await write('PATCH', '/api/v1/namespaces/default/configmaps/settings', { data: { color: 'green' } });
  await workspace.do('apply over the field of another', 'apply', '-auto-approve');
  await write('PATCH', '/api/v1/namespaces/default/configmaps/settings', { data: { color: 'red' } });
  for (const name of ['found', 'met']) {
    await write('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { a: 'b' } });
  }
  workspace.configure({ hasBackup: true, isChanged: true, hasFound: true });
  await workspace.do('import', 'import', 'kubernetes_config_map_v1.found', 'default/found');
  await workspace.do('import of a manifest', 'import', 'kubernetes_manifest.met', 'apiVersion=v1,kind=ConfigMap,namespace=default,name=met');
  await workspace.plan('plan after imports');
  await workspace.do('apply after imports', 'apply', 'plan');
  await workspace.plan('plan at the end');
  await workspace.do('destroy', 'destroy', '-auto-approve');
  await workspace.look('destroyed');
  return { steps: workspace.steps, objects: workspace.objects };
}
