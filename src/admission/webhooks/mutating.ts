// MutatingAdmissionWebhook: calls webhooks one after the other, by configuration name and then in the order of the configuration. Each sees what those
// before it have made of the object. When one has changed the object, plugins run a second pass, in which webhooks with reinvocationPolicy
// IfNeeded are called again if the object has changed since they were.
import { type KubeObject, type SchemaSet, equalJson, internalError } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { annotate } from '../audit-annotations.ts';
import type { AdmissionPlugin, MutatingPass } from '../chain.ts';
import { type FormedObjects, type ResourceForm, convertForm, formOf, requestedForm } from '../match/resource-forms.ts';
import { internalProblem } from '../refusal.ts';
import { Reinvocation } from '../reinvocation.ts';
import { type CallDependencies, callWebhook } from './call.ts';
import type { Candidate, WebhookConfigurations } from './configurations.ts';
import { CallError } from './failures.ts';
import { type MatchDependencies, RequestMatcher } from './matching.ts';
import { applyPatch, defaultForm, readPatch } from './patch.ts';
import { type Reporting, reportCall } from './report.ts';
import type { ReviewAnswer } from './review.ts';

/** What both sorts of webhooks need. */
export interface WebhookDependencies extends CallDependencies, MatchDependencies, Reporting {
  readonly configurations: WebhookConfigurations;
  readonly schemas: SchemaSet;
}

const PLUGIN = 'MutatingAdmissionWebhook';
const UNAVAILABLE = 503;

/** The webhooks of one pass over one request. */
class MutatingRun {
  readonly #attributes: AdmissionAttributes;
  readonly #pass: MutatingPass;
  readonly #dependencies: WebhookDependencies;
  readonly #matcher: RequestMatcher;
  readonly #reinvocation: Reinvocation;
  #isDirty = false;

  constructor(attributes: AdmissionAttributes, pass: MutatingPass, dependencies: WebhookDependencies) {
    this.#attributes = attributes;
    this.#pass = pass;
    this.#dependencies = dependencies;
    this.#matcher = new RequestMatcher(attributes, 'admit', dependencies);
    this.#reinvocation = new Reinvocation(PLUGIN, pass, attributes.object);
  }

  async run(candidates: readonly Candidate[]): Promise<void> {
    for (const candidate of candidates) {
      const isCalled = this.#matcher.isCalled(candidate);
      // Waiting for what is known costs a turn of the microtask queue: 0.6 ms for each create where 500 configurations do not match.
      if (!(isCalled instanceof Promise ? await isCalled : isCalled)) continue;
      if (!this.#reinvocation.runs(candidate.webhook.id)) continue;
      await this.#call(candidate);
    }
    await this.#finish();
  }

  async #call(candidate: Candidate): Promise<void> {
    const { webhook, form } = candidate;
    const { clock } = this.#dependencies;
    const objects = await this.#matcher.forms.convert(form);
    const startedMs = clock.monotonicMs();
    let changed = false;
    let error: unknown;
    try {
      changed = await this.#ask(candidate, objects);
    } catch (thrown) {
      error = thrown;
    }
    this.#annotate(candidate, 'mutation', { mutated: changed });
    const outcome = { webhook, attributes: this.#attributes, type: 'admit', durationMs: clock.monotonicMs() - startedMs, error } as const;
    const refusal = reportCall(outcome, this.#dependencies, () =>
      annotate(this.#attributes.context, this.#annotationKey('failed-open.mutation', candidate), { value: webhook.name }));
    if (changed) this.#reinvocation.noteChange();
    if (webhook.isReinvocable) this.#reinvocation.noteCall(webhook.id);
    if (refusal !== undefined) throw refusal;
  }

  /** Calls a webhook and applies its patch; answers whether the object has changed. */
  async #ask(candidate: Candidate, objects: FormedObjects): Promise<boolean> {
    const { webhook, form } = candidate;
    const answer = await callWebhook(webhook, { attributes: this.#attributes, objects, mutating: true }, this.#dependencies);
    const patch = readAnsweredPatch(webhook.name, answer);
    if (patch === undefined) return false;
    if (objects.object === undefined) {
      throw internalError(`admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`);
    }
    const patched = applyPatch(objects.object, patch, { form, schemas: this.#dependencies.schemas });
    const changed = !equalJson(patched, objects.object);
    this.#annotate(candidate, 'patch', { patch: patch.operations, patchType: 'JSONPatch' });
    this.#isDirty = true;
    this.#matcher.forms.replace(defaultForm(patched, form), form);
    return changed;
  }

  /** Hands the object back in the form of the request. */
  async #finish(): Promise<void> {
    const attributes = this.#attributes;
    const { object } = this.#matcher.forms.selected;
    if (this.#isDirty && object !== undefined) attributes.object = await convertBack(object, this.#matcher.forms.form, attributes);
    this.#reinvocation.finish(attributes.object);
  }

  #annotationKey(prefix: string, { index }: Candidate): string {
    return `${prefix}.webhook.admission.k8s.io/round_${this.#pass.isAgain ? 1 : 0}_index_${index}`;
  }

  #annotate(candidate: Candidate, prefix: 'mutation' | 'patch', fields: Readonly<Record<string, unknown>>): void {
    const { auditAnnotations } = this.#attributes.context;
    if (auditAnnotations === undefined) return;
    const { configuration, name } = candidate.webhook;
    const value = JSON.stringify({ configuration, webhook: name, ...fields });
    annotate({ auditAnnotations }, this.#annotationKey(prefix, candidate), { value, level: prefix === 'patch' ? 'Request' : 'Metadata' });
  }
}

/** The patch of an answer; undefined when it changes nothing. */
function readAnsweredPatch(webhook: string, { patch, patchType }: ReviewAnswer): ReturnType<typeof readPatch> | undefined {
  if (patch === '') return undefined;
  let read: ReturnType<typeof readPatch>;
  try {
    read = readPatch(patch);
  } catch (error) {
    throw new CallError(webhook, (error as Error).message, UNAVAILABLE);
  }
  if (read.length === 0) return undefined;
  if (patchType !== 'JSONPatch') throw new CallError(webhook, `unsupported patch type ${JSON.stringify(patchType)}`, UNAVAILABLE);
  return read;
}

/** An object as webhooks left it, in the form of the request; throws the 500 of a type that it cannot be converted from. */
async function convertBack(object: KubeObject, left: ResourceForm, attributes: AdmissionAttributes): Promise<KubeObject> {
  const requested = requestedForm(attributes);
  const form = formOf(object, left);
  if (form === undefined) {
    const { group, version } = requested.kind;
    const wanted = JSON.stringify(group === '' ? version : `${group}/${version}`);
    throw internalProblem(`${object.apiVersion ?? ''}, Kind=${object.kind ?? ''} is unstructured and is not suitable for converting to ${wanted}`);
  }
  return convertForm(object, form, requested);
}

/** The plugin. */
export function createMutatingWebhooks(dependencies: WebhookDependencies): AdmissionPlugin {
  const { configurations } = dependencies;
  return {
    name: PLUGIN,
    handles: (attributes) => configurations.findCandidates(attributes).length > 0,
    mutate: (attributes, pass) =>
      new MutatingRun(attributes, pass, dependencies).run(configurations.findCandidates(attributes)),
  };
}
