// `pintle check` and `pintle plan`: from the flags to a printed report and an exit code.
import { readFileSync } from 'node:fs';
import { ApiError, type KubernetesObject } from '../../client/index.ts';
import { KubeconfigError } from '../../kubeconfig/index.ts';
import { type PlanSettings, StartError, type VerdictSettings, colour } from '../../server/index.ts';
import { ManifestError, type ReadDocuments, readDocuments } from '../manifests/documents.ts';
import { evaluate } from '../verdicts/evaluate.ts';
import { createLiveTarget } from '../verdicts/live-target.ts';
import { type ApplySet, findApplySet, findPruned, PART_OF } from '../verdicts/prune.ts';
import { formatJson } from '../verdicts/reports/json.ts';
import { formatJunit } from '../verdicts/reports/junit.ts';
import { type Report, sumUp } from '../verdicts/reports/report.ts';
import { formatSarif } from '../verdicts/reports/sarif.ts';
import { formatText } from '../verdicts/reports/text.ts';
import { isNamespace, withProblems } from '../verdicts/subjects.ts';
import { type MemoryStart, type Target, createMemoryTarget } from '../verdicts/targets.ts';
import type { Verdict } from '../verdicts/verdict.ts';
import { TimeoutError } from '../waiting.ts';

type Settings = VerdictSettings & Partial<PlanSettings>;

/** Nothing is wrong; something is; the question cannot be answered; something would change. */
const [FINE, FOUND, FAILED, CHANGED] = [0, 1, 2, 3];

/** Evaluates manifests, prints the report and answers the exit code. */
export async function evaluateManifests(settings: Settings, kind: 'check' | 'plan'): Promise<number> {
  try {
    const report = await makeReport(settings, kind);
    process.stdout.write(formatReport(report, settings.output));
    return chooseCode(report, settings);
  } catch (error) {
    if (!isMendable(error)) throw error;
    process.stderr.write(`${colour(process.stderr, 'red', 'pintle:')} ${error.message}\n`);
    return FAILED;
  }
}

/** What the user can mend, or the network: the rest is a bug. */
const isMendable = (error: unknown): error is Error => error instanceof StartError || error instanceof ManifestError || error instanceof ApiError
  || error instanceof KubeconfigError || error instanceof TimeoutError || (error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string');

function formatReport(report: Report, output: string): string {
  if (output === 'json') return formatJson(report);
  if (output === 'junit') return formatJunit(report);
  return output === 'sarif' ? formatSarif(report) : formatText(report, process.stdout);
}

function chooseCode(report: Report, { warningsAsErrors, exitCode }: Settings): number {
  const { errors, warnings, pruned, actions: { create, change } } = sumUp(report);
  if (errors > 0 || (warningsAsErrors && warnings > 0)) return FOUND;
  return exitCode === true && create + change + pruned > 0 ? CHANGED : FINE;
}

async function makeReport(settings: Settings, kind: 'check' | 'plan'): Promise<Report> {
  const isLive = settings.live || settings.kubeconfig !== '' || settings.context !== '';
  checkSettings(settings, isLive);
  const read = await readDocuments(settings.filenames, () => readFileSync(0, 'utf8'));
  const user = settings.as === '' ? undefined : { name: settings.as, groups: settings.asGroups };
  const openMemory = (isEmpty: boolean): Promise<Target> => createMemoryTarget(describeStart(settings, { read, user, isEmpty }));
  const live = isLive ? await createLiveTarget({ ...settings, user }) : undefined;
  const target = live?.target ?? await openMemory(settings.snapshot === '');
  try {
    const namespace = settings.namespace || live?.namespace || 'default';
    const set = settings.prune === true && settings.applySet !== undefined && settings.applySet !== ''
      ? await findApplySet(settings.applySet, { target, namespace }) : undefined;
    if (set === undefined && (settings.applySet ?? '') !== '') throw new StartError(`--applyset=${settings.applySet}: no such resource is served`);
    const documents = set === undefined ? read.documents : read.documents.map((document) => ({ ...document, object: joinSet(document.object, set) }));
    const verdicts = withProblems(await evaluate(documents, {
      ...settings, target, namespace, findsChanges: kind === 'plan', openMemory: () => openMemory(true),
    }), read);
    const pruned = settings.prune === true ? await findPruned(verdicts, {
      ...settings, target, namespace, selector: settings.selector ?? '', allowlist: settings.pruneAllowlist ?? [], applySet: set,
    }) : [];
    return { kind, verdicts: sortByPlace(verdicts), pruned, notes: await listNotes(target) };
  } finally {
    await target.close();
  }
}

/** The texts that are no objects stand among the objects of their files. */
function sortByPlace(verdicts: readonly Verdict[]): Verdict[] {
  const files = [...new Set(verdicts.map(({ document: { place } }) => place.file))];
  return files.flatMap((file) => verdicts.filter(({ document: { place } }) => place.file === file)
    .sort((a, b) => a.document.place.line - b.document.place.line));
}

function checkSettings({ filenames, snapshot, asGroups, as, prune, selector = '', applySet = '' }: Settings, isLive: boolean): void {
  if (filenames.length === 0) throw new StartError('name files, folders or globs of manifests, or - for standard input');
  if (isLive && snapshot !== '') throw new StartError('--snapshot and a cluster cannot be asked together');
  if (asGroups.length > 0 && as === '') throw new StartError('--as-group needs --as');
  if (prune === true && selector === '' && applySet === '') throw new StartError('--prune needs --selector or --applyset');
  if (prune !== true && applySet !== '') throw new StartError('--applyset needs --prune');
}

/** On an empty server the namespaces that manifests name are there; elsewhere they must be. */
function describeStart(settings: Settings, { read: { documents }, user, isEmpty }: {
  readonly read: ReadDocuments; readonly user: MemoryStart['user']; readonly isEmpty: boolean;
}): MemoryStart {
  const objects = documents.map(({ object }) => object);
  const defined = new Set(objects.filter(isNamespace).map(({ metadata }) => metadata?.name));
  const named = isEmpty ? [settings.namespace, ...objects.map(({ metadata }) => metadata?.namespace ?? '')] : [];
  const isLive = isEmpty && (settings.live || settings.kubeconfig !== '' || settings.context !== '');
  return {
    user: isLive ? undefined : user, snapshot: isEmpty ? '' : settings.snapshot, encryptionProviderConfig: settings.encryptionProviderConfig,
    base: settings.base,
    namespaces: [...new Set(named)].filter((name) => /^[a-z0-9][-a-z0-9]{0,62}$/.test(name) && (isLive || !defined.has(name))),
  };
}

const joinSet = (object: KubernetesObject, { id }: ApplySet): KubernetesObject =>
  ({ ...object, metadata: { ...object.metadata, labels: { ...object.metadata?.labels, [PART_OF]: id } } });

/** Webhooks are not asked in memory. */
async function listNotes({ isDry, askAll }: Target): Promise<string[]> {
  if (isDry) return [];
  const lists = await Promise.all(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].map(async (plural) =>
    (await askAll({ path: `/apis/admissionregistration.k8s.io/v1/${plural}` })).body?.items as unknown[] | undefined));
  const count = lists.reduce((sum, items) => sum + (items?.length ?? 0), 0);
  return count === 0 ? [] : [`${count} webhook configurations are not asked: they are elsewhere`];
}
