// Verdicts on manifests: findings, and what applying them would do.
import type { ManifestDocument } from '../manifests/documents.ts';

/** What a finding is about. The names are those of rules in reports. */
export type Rule = keyof typeof ruleTexts;

/** The rules, with what each one says. */
export const ruleTexts = {
  syntax: 'The text is YAML or JSON, and an object of the API.',
  'duplicate-key': 'A key is set once in a map.',
  'duplicate-object': 'An object is defined once.',
  'unknown-kind': 'The kind is served, or its definition is given.',
  'removed-version': 'The version of the kind is still served.',
  deprecated: 'The version, or a field, is not deprecated.',
  schema: 'Fields are those of the schema, and have its types.',
  invalid: 'Values are valid: rules of the kind, of its schema, and CEL rules of definitions.',
  policy: 'Admission policies permit the object.',
  'pod-security': 'The Pod Security level of the namespace permits the object.',
  quota: 'The quotas of the namespace have room.',
  rbac: 'The user may do it.',
  'missing-namespace': 'The namespace exists.',
  conflict: 'No other manager holds a field with another value.',
  refused: 'The server takes the object.',
  warning: 'The server does not warn.',
} as const;

/** One thing that is wrong, or that the server warns about. */
export interface Finding {
  readonly level: 'error' | 'warning';
  readonly rule: Rule;
  readonly message: string;
  /** The path of the field; '' for the object as a whole. */
  readonly field: string;
  /** The line of the file, where it is known before the field is looked for. */
  readonly line?: number;
}

/** One field that differs. */
export interface Change {
  readonly path: string;
  /** Absent: the field was not there, or is taken away. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** The managers that held the field before. */
  readonly owners: readonly string[];
}

/** What applying a manifest does. */
export type Action = 'create' | 'change' | 'unchanged' | 'conflict' | 'refused' | 'skipped';

/** The verdict on one manifest. */
export interface Verdict {
  readonly document: ManifestDocument;
  readonly namespace: string;
  readonly action: Action;
  /** Found out on a server in memory, because the cluster has no such kind or namespace yet. */
  readonly isOffline: boolean;
  readonly findings: readonly Finding[];
  readonly changes: readonly Change[];
}

/** An object that is there, is no longer among the manifests and would be deleted. */
export interface Pruned {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly findings: readonly Finding[];
}
