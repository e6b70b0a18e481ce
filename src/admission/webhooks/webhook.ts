// One webhook of a configuration, compiled: selectors and conditions ready, its place among all webhooks of its sort known. Objects come from the
// store defaulted and validated; what is absent all the same reads as the reference's nil.
import { type KubeObject, type LabelSelector, type MetaLabelSelector, createLabelSelector, labelSelectorOf } from '../../apimachinery/index.ts';
import { resumableSteps, runStepsInSlices } from '../../base/index.ts';
import { type CompiledConditions, type MatchCondition, compileConditions } from '../match/conditions.ts';
import type { MatchRule } from '../match/rules.ts';

/** Where a webhook is: by URL, or by the Service that leads to it. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: { readonly name: string; readonly namespace: string; readonly path?: string; readonly port?: number };
  /** PEM of the authorities, in base64. */
  readonly caBundle?: string;
}

/** A webhook as configurations state it. */
interface WebhookFields {
  readonly name?: string;
  readonly clientConfig?: WebhookClientConfig;
  readonly rules?: readonly MatchRule[] | null;
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: MetaLabelSelector | null;
  readonly objectSelector?: MetaLabelSelector | null;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[] | null;
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[] | null;
}

/** Versions of AdmissionReview that are spoken here. */
export type ReviewVersion = 'v1' | 'v1beta1';

/** A webhook that is ready to be matched and called. */
export interface Webhook {
  readonly name: string;
  readonly configuration: string;
  /** Identifies webhooks of one name: configuration, name, and how many of that name came before it. */
  readonly id: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules: readonly MatchRule[];
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly conditions: readonly MatchCondition[];
  /** Compiles the conditions once, in turns. The pattern engine has to be loaded. */
  prepareConditions(pause: () => Promise<void> | undefined): Promise<CompiledConditions>;
  /** Failures of the call, not refusals, are passed over. */
  readonly ignoresFailures: boolean;
  readonly sideEffects: string | undefined;
  readonly timeoutSeconds: number;
  /** The first that both sides know; undefined when there is none. */
  readonly reviewVersion: ReviewVersion | undefined;
  /** reinvocationPolicy IfNeeded. */
  readonly isReinvocable: boolean;
}

const DEFAULT_TIMEOUT_SECONDS = 10;

const nothing: LabelSelector = { ...createLabelSelector([{ key: '', operator: 'in', values: [] }]), matches: () => false };
const isKnownVersion = (version: string): version is ReviewVersion => version === 'v1' || version === 'v1beta1';

function compileWebhook(fields: WebhookFields, configuration: string, id: string): Webhook {
  let compiled: Promise<CompiledConditions> | undefined;
  return {
    name: fields.name ?? '', configuration, id,
    clientConfig: fields.clientConfig ?? {}, rules: fields.rules ?? [], matchPolicy: fields.matchPolicy ?? '',
    namespaceSelector: labelSelectorOf(fields.namespaceSelector) ?? nothing, objectSelector: labelSelectorOf(fields.objectSelector) ?? nothing,
    conditions: fields.matchConditions ?? [],
    prepareConditions(pause) {
      return (compiled ??= runStepsInSlices(resumableSteps(() => compileConditions(fields.matchConditions ?? [])), pause));
    },
    ignoresFailures: fields.failurePolicy === 'Ignore', sideEffects: fields.sideEffects,
    timeoutSeconds: fields.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    reviewVersion: fields.admissionReviewVersions?.find(isKnownVersion),
    isReinvocable: fields.reinvocationPolicy === 'IfNeeded',
  };
}

/** The webhooks of a configuration, in its order; `origin` distinguishes those of static manifests. */
export function compileConfiguration(object: KubeObject, origin = ''): readonly Webhook[] {
  const configuration = object.metadata.name ?? '';
  const counts = new Map<string, number>();
  return ((object['webhooks'] ?? []) as readonly WebhookFields[]).map((fields) => {
    const { name = '' } = fields;
    const before = counts.get(name) ?? 0;
    counts.set(name, before + 1);
    return compileWebhook(fields, configuration, `${origin}${configuration}/${name}/${before}`);
  });
}
