// The objects of one request in the forms that webhooks and policies see them in. Objects are converted when something first needs them so, once
// per form.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { type FormedObjects, type ResourceForm, convertForm, requestedForm } from './resource-forms.ts';

const keyOf = ({ kind: { group, version, kind } }: ResourceForm): string => `${group}/${version}/${kind}`;
const throwOn = (error: unknown): never => {
  throw error;
};

/** The objects of one request in the forms that its webhooks or policies see; each conversion is made once. */
export class RequestForms {
  readonly #attributes: AdmissionAttributes;
  readonly #onFailure: (error: unknown) => never;
  readonly #requested: ResourceForm;
  readonly #old = new Map<string, Promise<KubeObject>>();
  readonly #new = new Map<string, Promise<KubeObject>>();
  /** The object as the request brought it, or as the last webhook or policy that changed it left it, and its form. */
  #object: KubeObject | undefined;
  #form: ResourceForm;

  /** `onFailure` throws what a conversion that failed becomes. */
  constructor(attributes: AdmissionAttributes, onFailure: (error: unknown) => never = throwOn) {
    this.#attributes = attributes;
    this.#onFailure = onFailure;
    this.#requested = requestedForm(attributes);
    this.#object = attributes.object;
    this.#form = this.#requested;
  }

  /** The objects in a form. */
  async convert(form: ResourceForm): Promise<FormedObjects> {
    try {
      const object = await this.#convertOne(this.#object, { from: this.#form, form, known: this.#new });
      const oldObject = await this.#convertOne(this.#attributes.oldObject, { from: this.#requested, form, known: this.#old });
      return { form, object, oldObject };
    } catch (error) {
      return this.#onFailure(error);
    }
  }

  /** Continues with the object that a form has become. */
  replace(object: KubeObject, form: ResourceForm): void {
    [this.#object, this.#form] = [object, form];
    this.#new.clear();
  }

  /** The object in the form of the request. */
  takeRequested(): Promise<KubeObject | undefined> {
    return this.#convertOne(this.#object, { from: this.#form, form: this.#requested, known: this.#new });
  }

  /** The form in which the last webhook or policy that changed the object has left it; else that of the request. */
  get form(): ResourceForm {
    return this.#form;
  }

  /** Objects as selectors see them: labels are the same in all forms. */
  get selected(): { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined } {
    return { object: this.#object, oldObject: this.#attributes.oldObject };
  }

  async #convertOne(object: KubeObject | undefined, { from, form, known }: {
    readonly from: ResourceForm; readonly form: ResourceForm; readonly known: Map<string, Promise<KubeObject>>;
  }): Promise<KubeObject | undefined> {
    if (object === undefined) return undefined;
    const converted = known.get(keyOf(form)) ?? convertForm(object, from, form);
    known.set(keyOf(form), converted);
    return converted;
  }
}
