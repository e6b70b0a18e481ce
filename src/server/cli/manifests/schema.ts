// The flags of the commands that evaluate manifests.
import { type SettingsOf, checks, text, texts, toggle } from '../../options/schema.ts';

/** The flags that `check` and `plan` share. */
export const verdictSchema = {
  filenames: texts({ flag: 'filename', short: 'f', help: 'File, folder or glob of manifests, or - for standard input; may be repeated, and be left out.' }),
  base: texts({ flag: 'base', help: 'File, folder or glob of what is there already: definitions, policies, quotas, roles; may be repeated.' }),
  snapshot: text({ flag: 'snapshot', help: 'File of pintle storage snapshot whose objects are there already.' }),
  encryptionProviderConfig: text({ flag: 'encryption-provider-config', help: 'The encryption of the server of the snapshot.' }),
  live: toggle({ flag: 'live', default: false, help: 'Ask the cluster of the kubeconfig, by dry runs.' }),
  kubeconfig: text({ flag: 'kubeconfig', help: 'File that leads to the cluster; implies --live. By default KUBECONFIG or ~/.kube/config.' }),
  context: text({ flag: 'context', help: 'Context of the kubeconfig; implies --live.' }),
  namespace: text({ flag: 'namespace', short: 'n', help: 'Namespace of objects that name none; by default that of the context, or default.' }),
  as: text({ flag: 'as', help: 'User who applies; by default the administrator, or the user of the kubeconfig.' }),
  asGroups: texts({ flag: 'as-group', help: 'Group of the user of --as; may be repeated.' }),
  fieldManager: text({ flag: 'field-manager', default: 'kubectl', help: 'Manager who applies.' }),
  forceConflicts: toggle({ flag: 'force-conflicts', default: false, help: 'Take fields over from other managers.' }),
  skipUnknown: toggle({ flag: 'skip-unknown', default: false, help: 'Pass over objects whose kind is not known.' }),
  warningsAsErrors: toggle({ flag: 'warnings-as-errors', default: false, help: 'Exit with 1 for warnings too.' }),
  output: text({
    flag: 'output', short: 'o', default: 'text', check: checks.oneOf('text', 'json', 'junit', 'sarif'),
    help: 'How the verdicts are printed: text, json, junit or sarif.',
  }),
} as const;

/** The flags of `plan` alone. */
export const planSchema = {
  ...verdictSchema,
  prune: toggle({ flag: 'prune', default: false, help: 'Show what is no longer among the manifests; needs --selector or --applyset.' }),
  selector: text({ flag: 'selector', short: 'l', help: 'Label selector of the objects that --prune looks at, of which only those applied before are pruned.' }),
  applySet: text({ flag: 'applyset', help: 'Parent of the ApplySet that the manifests are: [RESOURCE[.GROUP]/]NAME, by default a Secret.' }),
  pruneAllowlist: texts({ flag: 'prune-allowlist', help: 'Kind that --prune looks at, as GROUP/VERSION/KIND (core/v1/Pod); by default those of kubectl.' }),
  exitCode: toggle({ flag: 'detailed-exit-code', default: false, help: 'Exit with 3 when something would change and nothing is wrong.' }),
} as const;

/** What manifests are evaluated by. */
export type VerdictSettings = SettingsOf<typeof verdictSchema>;
/** What a plan is made by. */
export type PlanSettings = SettingsOf<typeof planSchema>;

/** Evaluates manifests and prints the verdicts; answers the exit code. The testing room has it. */
export type EvaluateManifests = (settings: VerdictSettings & Partial<PlanSettings>, kind: 'check' | 'plan') => Promise<number>;

/** The exit codes, for `--help`. */
export const exitCodes = [
  'Exit codes: 0 nothing is wrong, 1 there are findings, 2 the command line or its files cannot be read or the cluster does not answer.',
];
