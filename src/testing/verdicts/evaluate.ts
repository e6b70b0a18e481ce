// Verdicts: each manifest is applied as its user would apply it, and the server's answer is the verdict. On a server in memory the manifests before
// it are there; a cluster is asked by dry runs, and what it cannot know yet (a kind, a namespace of these manifests) is asked in memory.
import { type ApiResponse, ApiError, type Discovery, type KnownResource, type KubernetesObject, resourcePath, splitApiVersion } from '../../client/index.ts';
import { delay, systemClock } from '../../base/index.ts';
import type { ManifestDocument } from '../manifests/documents.ts';
import { findChanges } from './changes.ts';
import { findProblems } from './findings.ts';
import { findRemoved } from './removed-apis.ts';
import { identify, isDefinition, isNamespace, orderRounds } from './subjects.ts';
import type { Target } from './targets.ts';
import type { Action, Finding, Verdict } from './verdict.ts';

/** How manifests are evaluated. */
export interface EvaluateOptions {
  readonly target: Target;
  /** A server in memory, for what a cluster cannot know yet. */
  readonly openMemory: () => Promise<Target>;
  readonly namespace: string;
  readonly fieldManager: string;
  readonly forceConflicts: boolean;
  readonly skipUnknown: boolean;
  /** Whether to find out what changes. */
  readonly findsChanges: boolean;
}

/** One manifest on its way. */
interface Subject {
  readonly document: ManifestDocument;
  readonly resource: KnownResource;
  readonly namespace: string;
  readonly target: Target;
}

const CREATED = 201;
/** Dry runs that are under way at a time. */
const CONCURRENCY = 8;
/** Longer than any definition takes to be served. */
const ESTABLISH_MS = 10_000;
/** Manager of what a server in memory has from the cluster. */
const LENDER = 'cluster';
const definitionPath = (name: string): string => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${encodeURIComponent(name)}`;
const clientSide = { manager: 'kubectl', before: 'kubectl-client-side-apply' } as const;

/** Evaluates all; the verdicts are in the order of the documents. */
export async function evaluate(documents: readonly ManifestDocument[], options: EvaluateOptions): Promise<Verdict[]> {
  const evaluation = new Evaluation(documents, options);
  try {
    return await evaluation.run();
  } finally {
    await evaluation.close();
  }
}

class Evaluation {
  readonly #documents: readonly ManifestDocument[];
  readonly #options: EvaluateOptions;
  readonly #verdicts = new Map<ManifestDocument, Verdict>();
  readonly #seen = new Map<string, ManifestDocument>();
  readonly #newNamespaces = new Set<string>();
  #discovery: Discovery | undefined;
  #memory: Promise<Target> | undefined;
  #memoryDiscovery: Discovery | undefined;

  constructor(documents: readonly ManifestDocument[], options: EvaluateOptions) {
    this.#documents = documents;
    this.#options = options;
  }

  async run(): Promise<Verdict[]> {
    const { target } = this.#options;
    for (const round of orderRounds(this.#documents)) {
      this.#discovery ??= await target.discover();
      if (target.isDry) await runWithLimit(round, (document) => this.#evaluateOne(document));
      else for (const document of round) await this.#evaluateOne(document);
      await target.settle();
      if (target.isDry || !round.some(({ object }) => isDefinition(object))) continue;
      await this.#checkDefinitions(target, round.filter((document) => this.#verdicts.get(document)?.action !== 'refused'));
      this.#discovery = await target.discover();
    }
    return this.#documents.map((document) => this.#verdicts.get(document) as Verdict);
  }

  async close(): Promise<void> {
    await (await this.#memory)?.close();
  }

  async #evaluateOne(document: ManifestDocument): Promise<void> {
    const found = await this.#prepare(document);
    this.#verdicts.set(document, 'action' in found ? found : await this.#apply(found));
  }

  /** What the document is about, or the verdict where no server can be asked. */
  async #prepare(document: ManifestDocument): Promise<Subject | Verdict> {
    const { object } = document;
    const { target } = this.#options;
    const { apiVersion = '', kind = '', metadata } = object;
    const refuse = (finding: Finding, action: Action = 'refused'): Verdict =>
      ({ document, namespace: metadata?.namespace ?? '', action, isOffline: false, findings: [finding], changes: [] });
    if (apiVersion === '' || kind === '') return refuse({ level: 'error', rule: 'syntax', message: 'apiVersion and kind are required', field: '' });
    let [resource, chosen] = [this.#discovery?.find(apiVersion, kind), target];
    if (resource === undefined && target.isDry && this.#defines(apiVersion, kind)) {
      chosen = await this.#openMemory();
      resource = this.#memoryDiscovery?.find(apiVersion, kind);
    }
    if (resource === undefined) {
      const { finding, isUnknown } = this.#explainUnknown(apiVersion, kind);
      return isUnknown && this.#options.skipUnknown ? refuse({ ...finding, level: 'warning' }, 'skipped') : refuse(finding);
    }
    const namespace = resource.namespaced ? metadata?.namespace ?? this.#options.namespace : '';
    if (target.isDry && this.#newNamespaces.has(namespace)) {
      chosen = await this.#openMemory();
      const message = `the definition of ${apiVersion} ${kind} cannot be read: without it nothing is known about objects in a new namespace`;
      if (this.#memoryDiscovery?.find(apiVersion, kind) === undefined) return refuse({ level: 'warning', rule: 'unknown-kind', message, field: '' }, 'skipped');
    }
    return { document, resource, namespace, target: chosen };
  }

  #defines(apiVersion: string, kind: string): boolean {
    const { group, version } = splitApiVersion(apiVersion);
    return this.#documents.some(({ object }) => isDefinition(object) && object['spec']?.group === group && object['spec']?.names?.kind === kind
      && (object['spec']?.versions as { name?: string }[] | undefined)?.some(({ name }) => name === version) === true);
  }

  async #openMemory(): Promise<Target> {
    this.#memory ??= this.#options.openMemory().then(async (memory) => {
      await this.#lendDefinitions(memory);
      await this.#takeDefinitions(memory);
      this.#memoryDiscovery = await memory.discover();
      return memory;
    });
    return this.#memory;
  }

  /** Kinds that the cluster serves by a definition are served in memory too. */
  async #lendDefinitions(memory: Target): Promise<void> {
    const known = await memory.discover();
    const lent = this.#documents.flatMap(({ object: { apiVersion = '', kind = '' } }) => {
      const resource = this.#discovery?.find(apiVersion, kind);
      return resource === undefined || known.find(apiVersion, kind) !== undefined ? [] : [definitionPath(`${resource.plural}.${resource.group}`)];
    });
    for (const path of new Set(lent)) {
      const { status, body } = await this.#options.target.askAll({ path });
      if (status >= 400) continue;
      const { apiVersion, kind, metadata: { name }, spec } = body as KubernetesObject & { readonly metadata: object };
      const wanted = { apiVersion, kind, metadata: { name }, spec };
      const taken = await memory.askAll({ method: 'PATCH', path: `${path}?fieldManager=${LENDER}&force=true`, body: wanted });
      if (taken.status < 400) await readConditions(memory, path);
    }
  }

  /** The definitions of the manifests are served in memory as far as they can be; a dry run has said already why one is refused. */
  async #takeDefinitions(memory: Target): Promise<void> {
    const discovery = await memory.discover();
    const taken: ManifestDocument[] = [];
    for (const document of this.#documents.filter(({ object }) => isDefinition(object))) {
      const resource = discovery.find(document.object.apiVersion ?? '', document.object.kind ?? '');
      if (resource === undefined) continue;
      const { status } = await this.#send({ document, resource, namespace: '', target: memory }, true, 'askAll');
      if (status < 400) taken.push(document);
    }
    await this.#checkDefinitions(memory, taken);
  }

  #explainUnknown(apiVersion: string, kind: string): { readonly finding: Finding; readonly isUnknown: boolean } {
    const removed = findRemoved(apiVersion, kind);
    if (removed !== undefined) {
      const instead = removed.use === '' ? 'nothing took its place' : `use ${removed.use}`;
      return { isUnknown: false, finding: {
        level: 'error', rule: 'removed-version', message: `${apiVersion} ${kind} is not served since v${removed.since}: ${instead}`, field: 'apiVersion' } };
    }
    const others = this.#discovery?.versionsOf(splitApiVersion(apiVersion).group, kind) ?? [];
    const served = others.map(({ group, version }) => (group === '' ? version : `${group}/${version}`)).join(', ');
    const given = this.#defines(apiVersion, kind) ? 'its definition is not served' : 'no definition of it is given';
    const hint = served === '' ? given : `it is served at ${served}`;
    const message = `no resource is served for ${apiVersion} ${kind}: ${hint}`;
    return { isUnknown: others.length === 0, finding: { level: 'error', rule: 'unknown-kind', message, field: 'apiVersion' } };
  }

  async #apply(subject: Subject): Promise<Verdict> {
    const { document, target, namespace } = subject;
    const { object } = document;
    const findings: Finding[] = [...this.#findDouble(document, namespace)];
    const before = await this.#readBefore(subject);
    let response = await this.#send(subject, this.#options.forceConflicts);
    // kubectl moves the fields that its client-side apply has set to its own name.
    if (response.status === 409 && this.#isOwnClientSide(response)) response = await this.#send(subject, true);
    findings.push(...findProblems(response));
    // What follows is evaluated as if the object were there: one refusal is one finding.
    if (response.status === 403 && !target.isDry) {
      const forced = await this.#send(subject, true, 'askAll');
      findings.push(...findProblems(forced).filter(({ message }) => !findings.some((known) => known.message === message)));
    }
    const isConflict = response.status === 409 && findings.some(({ rule }) => rule === 'conflict');
    const { action, changes } = response.status >= 400 ? { action: isConflict ? 'conflict' as const : 'refused' as const, changes: [] }
      : this.#compare(before, response);
    if (action === 'create' && isNamespace(object)) this.#newNamespaces.add(object.metadata?.name ?? '');
    return { document, namespace, action, isOffline: target !== this.#options.target, findings, changes };
  }

  #compare(before: KubernetesObject | undefined, { status, body }: ApiResponse): Pick<Verdict, 'action' | 'changes'> {
    if (status === CREATED) return { action: 'create', changes: [] };
    // Changes are not asked for, or the user may not read the object.
    if (before === undefined) return { action: 'change', changes: [] };
    const changes = findChanges(before, body as KubernetesObject);
    return { action: changes.length === 0 ? 'unchanged' : 'change', changes };
  }

  #findDouble(document: ManifestDocument, namespace: string): Finding[] {
    const { object } = document;
    if (object.metadata?.name === undefined) return [];
    const key = identify(object, namespace);
    const first = this.#seen.get(key);
    this.#seen.set(key, first ?? document);
    if (first === undefined) return [];
    return [{ level: 'warning', rule: 'duplicate-object', message: `the same object stands at ${first.place.file}:${first.place.line} too`, field: '' }];
  }

  /** The object as it is; undefined where there is none, or changes are not asked for. */
  async #readBefore({ document, resource, namespace, target }: Subject): Promise<KubernetesObject | undefined> {
    const { name } = document.object.metadata ?? {};
    if (!this.#options.findsChanges || name === undefined || !resource.verbs.includes('get')) return undefined;
    const path = resourcePath(resource, { namespace, name });
    const response = await target.askAll({ path });
    if (response.status === 404 || response.status === 403) return undefined;
    if (response.status >= 400) throw new ApiError(`GET ${path}`, response);
    return response.body as KubernetesObject;
  }

  #send({ document: { object }, resource, namespace, target }: Subject, force: boolean, as: 'ask' | 'askAll' = 'ask'): Promise<ApiResponse> {
    const { fieldManager } = this.#options;
    const query = `fieldManager=${encodeURIComponent(fieldManager)}&fieldValidation=Strict${target.isDry ? '&dryRun=All' : ''}`;
    const { name } = object.metadata ?? {};
    if (name === undefined || !resource.verbs.includes('patch')) {
      return target[as]({ method: 'POST', path: `${resourcePath(resource, { namespace })}?${query}`, body: object });
    }
    return target[as]({ method: 'PATCH', path: `${resourcePath(resource, { namespace, name })}?${query}${force ? '&force=true' : ''}`, body: object });
  }

  #isOwnClientSide({ body }: ApiResponse): boolean {
    const causes = (body?.details?.causes ?? []) as { readonly message?: string }[];
    return this.#options.fieldManager === clientSide.manager && causes.length > 0
      && causes.every(({ message }) => message?.startsWith(`conflict with "${clientSide.before}"`));
  }

  /** Definitions are taken before it is known whether their names and schemas can be served. */
  async #checkDefinitions(target: Target, documents: readonly ManifestDocument[]): Promise<void> {
    for (const document of documents) {
      const verdict = this.#verdicts.get(document) as Verdict;
      const findings = (await readConditions(target, definitionPath(document.object.metadata?.name ?? ''))).flatMap(({ type, status, message }): Finding[] => {
        if (type === 'NonStructuralSchema' && status === 'True') return [{ level: 'warning', rule: 'invalid', message, field: '' }];
        if (type === 'NamesAccepted' && status === 'False') return [{ level: 'error', rule: 'invalid', message, field: 'spec.names' }];
        return [];
      });
      this.#verdicts.set(document, { ...verdict, findings: [...verdict.findings, ...findings] });
    }
  }
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** The conditions of a definition once it is known whether it is served. */
async function readConditions({ askAll }: Target, path: string): Promise<readonly Condition[]> {
  for (const endMs = systemClock.monotonicMs() + ESTABLISH_MS; ;) {
    const conditions = ((await askAll({ path })).body?.status?.conditions ?? []) as readonly Condition[];
    const isDecided = conditions.some(({ type, status }) => (type === 'Established' && status === 'True') || (type === 'NamesAccepted' && status === 'False'));
    if (isDecided || systemClock.monotonicMs() > endMs) return conditions;
    await delay(systemClock, 1);
  }
}

async function runWithLimit<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  }));
}
