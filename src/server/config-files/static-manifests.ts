// Webhooks and policies from files: the directories that the configurations of the four plugins name (`staticManifestsDir`). What the files hold is
// in force from the start on, before any object of the API, and no client can change it. Directories are looked at every second; what cannot
// be used is logged, and what was used before stays. Mirrors upstream's manifest loaders.
import { readFile, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { type FollowStatic, STATIC_OBJECTS_GATE } from '../../admission/index.ts';
import { type FieldError, type KubeObject, loadPatternEngine } from '../../apimachinery/index.ts';
import { type Clock, invariant } from '../../base/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { type Catalog, completeObject } from '../../registry/index.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import type { RecordManifests } from '../metrics/manifest-metrics.ts';
import { hashText } from '../metrics/metric.ts';
import { StartError } from '../options/options.ts';
import { ConfigReader, type Fields, checkConfigKind, configVersions } from './config-file.ts';
import { lookAgain } from './followed-files.ts';

/** Plugins that take static manifests. */
type ManifestPlugin = 'MutatingAdmissionPolicy' | 'MutatingAdmissionWebhook' | 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionWebhook';

/** The directory of each plugin that has one. */
type ManifestDirectories = ReadonlyMap<ManifestPlugin, string>;

interface ManifestParts {
  readonly directories: ManifestDirectories;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly record: RecordManifests;
}

const GROUP = 'admissionregistration.k8s.io';
const SUFFIX = '.static.k8s.io';
const API_VERSION = `${GROUP}/v1`;
const separator = /^---.*$/m;
const manifestFile = /\.(?:yaml|yml|json)$/i;

/** The plurals of the kinds that a plugin takes, by kind. */
const kindsOf: Readonly<Record<ManifestPlugin, ReadonlyMap<string, string>>> = {
  MutatingAdmissionPolicy: new Map([
    ['MutatingAdmissionPolicy', 'mutatingadmissionpolicies'], ['MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings'],
  ]),
  MutatingAdmissionWebhook: new Map([['MutatingWebhookConfiguration', 'mutatingwebhookconfigurations']]),
  ValidatingAdmissionPolicy: new Map([
    ['ValidatingAdmissionPolicy', 'validatingadmissionpolicies'], ['ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
  ]),
  ValidatingAdmissionWebhook: new Map([['ValidatingWebhookConfiguration', 'validatingwebhookconfigurations']]),
};

const configurationKinds: Readonly<Record<ManifestPlugin, string>> = {
  MutatingAdmissionPolicy: 'MutatingAdmissionPolicyConfiguration', MutatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
  ValidatingAdmissionPolicy: 'ValidatingAdmissionPolicyConfiguration', ValidatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
};

/** The directories that configurations of plugins name. Throws StartError, also where the feature gate is off. */
export async function readManifestDirectories(flag: string, configurations: ReadonlyMap<string, Fields>, isOn: boolean): Promise<ManifestDirectories> {
  const found = new Map<ManifestPlugin, string>();
  for (const plugin of Object.keys(configurationKinds) as ManifestPlugin[]) {
    const configuration = configurations.get(plugin);
    if (configuration === undefined) continue;
    checkConfigKind(`${flag}: ${plugin}`, configuration, { [configurationKinds[plugin]]: configVersions('v1') });
    const reader = new ConfigReader(`${flag}: ${plugin}`);
    const takesKubeconfig = plugin.endsWith('Webhook');
    const fields = ['apiVersion', 'kind', 'staticManifestsDir', ...(takesKubeconfig ? ['kubeConfigFile'] : [])];
    const { staticManifestsDir } = reader.fields(configuration, '', fields);
    const path = reader.text(staticManifestsDir, 'staticManifestsDir');
    if (path !== '') {
      const problem = await checkDirectory(path, isOn);
      if (problem !== undefined) reader.report('staticManifestsDir', problem);
      found.set(plugin, path);
    }
    reader.finish();
  }
  return found;
}

async function checkDirectory(path: string, isOn: boolean): Promise<string | undefined> {
  if (!isOn) return `Forbidden: staticManifestsDir requires the ${STATIC_OBJECTS_GATE} feature gate to be enabled`;
  const invalidly = (problem: string): string => `Invalid value: ${JSON.stringify(path)}: ${problem}`;
  if (!isAbsolute(path)) return invalidly('must be an absolute file path');
  try {
    return (await stat(path)).isDirectory() ? undefined : invalidly('must be a directory');
  } catch (error) {
    return invalidly(`unable to read: ${(error as Error).message}`);
  }
}

interface ManifestFile {
  readonly path: string;
  readonly text: string;
}

async function readFiles(directory: string): Promise<readonly ManifestFile[]> {
  const names = (await readdir(directory, { withFileTypes: true })).filter((entry) => !entry.isDirectory() && manifestFile.test(entry.name));
  const paths = names.map(({ name }) => join(directory, name)).sort();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, 'utf8') })));
}

/** The objects of a document; those of a list one by one. */
function* flatten(value: unknown, kinds: ReadonlyMap<string, string>): Generator<KubeObject> {
  const object = value as KubeObject & { readonly items?: readonly unknown[] };
  const { kind = '' } = object;
  const isTyped = kinds.has(kind.replace(/List$/, '')) && object.apiVersion === API_VERSION;
  if (kind.endsWith('List') && (isTyped || (kind === 'List' && object.apiVersion === 'v1'))) {
    const type = isTyped ? { apiVersion: API_VERSION, kind: kind.slice(0, -'List'.length) } : {};
    for (const item of object.items ?? []) yield* flatten({ ...type, ...(item as object) }, kinds);
  } else yield object;
}

/** Defaults an object and holds it to the rules of its kind and to those of manifests. Throws an Error. */
function accept(object: KubeObject, plugin: ManifestPlugin, catalog: Pick<Catalog, 'find'>): KubeObject {
  const plural = kindsOf[plugin].get(object.kind ?? '');
  if (plural === undefined || object.apiVersion !== API_VERSION) {
    throw new Error(`unsupported resource type ${object.apiVersion ?? ''}, Kind=${object.kind ?? ''}`);
  }
  const row = catalog.find(GROUP, 'v1', plural);
  invariant(row !== undefined, `${plural} are served`);
  const completed = completeObject(row, object);
  const context = { nowMs: 0, namespace: '', user: { name: '', groups: [] }, version: 'v1', subresource: '' };
  const problems: readonly FieldError[] = row.strategy.validate?.(completed, context) ?? [];
  if (problems.length > 0) throw new Error(problems.map(({ field, message }) => `${field}: ${message}`).join(', '));
  checkManifest(completed);
  return completed;
}

interface ManifestFields {
  readonly paramKind?: unknown;
  readonly paramRef?: unknown;
  readonly policyName?: string;
}

function checkManifest({ kind, metadata: { name = '' }, spec, webhooks }: KubeObject & { readonly spec?: ManifestFields; readonly webhooks?: unknown }): void {
  const { paramKind, paramRef, policyName } = spec ?? {};
  if (!name.endsWith(SUFFIX)) throw new Error(`"${name}" must have a name ending with "${SUFFIX}"`);
  if (paramKind !== undefined) throw new Error(`${kind ?? ''} "${name}": spec.paramKind is not supported for static manifests`);
  if (paramRef !== undefined) throw new Error(`binding "${name}": spec.paramRef is not supported for static manifests`);
  if (policyName !== undefined && !policyName.endsWith(SUFFIX)) throw new Error(`binding "${name}": spec.policyName "${policyName}" must end with "${SUFFIX}"`);
  for (const webhook of (webhooks ?? []) as readonly { readonly name: string; readonly clientConfig: { readonly url?: string } }[]) {
    if (!webhook.clientConfig.url) throw new Error(`webhook "${webhook.name}" in "${name}": clientConfig.url is required for static manifests`);
  }
}

/** All objects of a plugin's files. Throws an Error where one of them cannot be used. */
async function parseFiles(files: readonly ManifestFile[], plugin: ManifestPlugin, catalog: Pick<Catalog, 'find'>): Promise<readonly KubeObject[]> {
  await loadPatternEngine();
  const objects = new Map<string, KubeObject>();
  for (const { path, text } of files) {
    try {
      for (const part of text.split(separator)) {
        if (part.trim() === '') continue;
        const { value } = await parseYaml(new TextEncoder().encode(part));
        for (const object of flatten(value ?? {}, kindsOf[plugin])) {
          const accepted = accept(object, plugin, catalog);
          const key = `${accepted.kind ?? ''}/${accepted.metadata.name ?? ''}`;
          if (objects.has(key)) throw new Error(`duplicate name "${accepted.metadata.name ?? ''}"`);
          objects.set(key, accepted);
        }
      }
    } catch (error) {
      throw new Error(`error loading ${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  checkReferences([...objects.values()]);
  return [...objects.values()];
}

function checkReferences(objects: readonly KubeObject[]): void {
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  for (const { metadata: { name = '' }, spec } of objects as readonly (KubeObject & { readonly spec?: ManifestFields })[]) {
    const { policyName } = spec ?? {};
    if (policyName === undefined || names.has(policyName)) continue;
    throw new Error(`binding "${name}" references policy "${policyName}" which does not exist in the manifest directory`);
  }
}

const describeFiles = (files: readonly ManifestFile[]): string => JSON.stringify(files);

/** Makes the function that follows the directories. */
export function createManifestFollower({ directories, catalog, clock, logger, record }: ManifestParts): FollowStatic {
  return async (name, use) => {
    const plugin = name as ManifestPlugin;
    const directory = directories.get(plugin);
    if (directory === undefined) return () => undefined;
    let known = '';
    const look = async (): Promise<void> => {
      const files = await readFiles(directory);
      const described = describeFiles(files);
      if (described === known) return;
      // A failure is reported once for each state of the files.
      const isFirst = known === '';
      known = described;
      use(await parseFiles(files, plugin, catalog));
      record(plugin, hashText(described));
      if (!isFirst) logger.info(1, 'static manifests are in use as they are now', { plugin, directory });
    };
    await look().catch((error: unknown) => {
      throw new StartError(`failed to load static manifests of ${plugin} from "${directory}": ${(error as Error).message}`, { cause: error });
    });
    const warn = (error: unknown): void => {
      record(plugin, undefined);
      logger.warn('static manifests cannot be used; those before stay', { plugin, ...describeError(error) });
    };
    return lookAgain(clock, () => look().catch(warn));
  };
}
