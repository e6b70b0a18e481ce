// Manifests in the order in which they are evaluated, each with what is known about it before any server is asked.
import { type KubernetesObject, splitApiVersion } from '../../client/index.ts';
import type { DocumentProblem, ManifestDocument, ReadDocuments } from '../manifests/documents.ts';
import type { Finding, Verdict } from './verdict.ts';

const groupOf = ({ apiVersion = '' }: KubernetesObject): string => splitApiVersion(apiVersion).group;

/** Whether an object defines a custom kind. */
export const isDefinition = (object: KubernetesObject): boolean =>
  object.kind === 'CustomResourceDefinition' && groupOf(object) === 'apiextensions.k8s.io';
/** Whether an object is a namespace. */
export const isNamespace = (object: KubernetesObject): boolean => object.kind === 'Namespace' && groupOf(object) === '';

/** Kinds by which others are evaluated, in the order in which they come into force. */
const early: Readonly<Record<string, number>> = {
  ResourceQuota: 2, LimitRange: 2, ServiceAccount: 2, PriorityClass: 2, RuntimeClass: 2, StorageClass: 2, IngressClass: 2,
  Role: 2, ClusterRole: 2, RoleBinding: 3, ClusterRoleBinding: 3,
  ValidatingAdmissionPolicy: 5, MutatingAdmissionPolicy: 5, ValidatingAdmissionPolicyBinding: 6, MutatingAdmissionPolicyBinding: 6,
};
const [PARAMETERS, OTHERS] = [4, 7];

/** Documents in rounds: definitions, namespaces, what decides about others (parameters of policies before these), everything else. */
export function orderRounds(documents: readonly ManifestDocument[]): ManifestDocument[][] {
  const parameters = new Set(documents.flatMap(({ object: { spec, kind } }) => {
    const { apiVersion, kind: of } = (kind?.endsWith('AdmissionPolicy') === true ? spec?.paramKind ?? {} : {}) as { apiVersion?: string; kind?: string };
    return of === undefined ? [] : [`${apiVersion}/${of}`];
  }));
  const rounds: ManifestDocument[][] = [];
  for (const document of documents) {
    const { object } = document;
    const round = isDefinition(object) ? 0 : isNamespace(object) ? 1 : parameters.has(`${object.apiVersion}/${object.kind}`) ? PARAMETERS
      : early[object.kind ?? ''] ?? OTHERS;
    (rounds[round] ??= []).push(document);
  }
  return rounds.filter((round) => round !== undefined);
}

const describe = ({ message, isWarning, line }: DocumentProblem): Finding =>
  ({ level: isWarning ? 'warning' : 'error', rule: isWarning ? 'duplicate-key' : 'syntax', message, field: '', line });

/** The verdicts, and one for each text that is no object; what is odd about a text is found about the first object in it. */
export function withProblems(verdicts: readonly Verdict[], { problems }: ReadDocuments): Verdict[] {
  const odd = new Map(problems.filter(({ isWarning }) => isWarning).map((problem) => [problem.place.text, problem]));
  const found = verdicts.map((verdict) => {
    const { text } = verdict.document.place;
    const problem = odd.get(text);
    odd.delete(text);
    return problem === undefined ? verdict : { ...verdict, findings: [describe(problem), ...verdict.findings] };
  });
  const refused = problems.filter(({ isWarning }) => !isWarning).map((problem): Verdict => ({
    document: { object: {}, place: problem.place }, namespace: '', action: 'refused', isOffline: false, findings: [describe(problem)], changes: [],
  }));
  return [...refused, ...found];
}

/** What an object is known by: its group, kind, namespace and name. */
export const identify = (object: KubernetesObject, namespace: string): string =>
  [groupOf(object), object.kind, namespace, object.metadata?.name].join('\n');
