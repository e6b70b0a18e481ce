// What a mutating plugin notes in its first pass over a request for the second: which of its webhooks or policies with reinvocationPolicy IfNeeded
// run again, since the object has changed after them. Mirrors upstream's reinvocation contexts.
import { type KubeObject, equalJson } from '../apimachinery/index.ts';
import { cloneJson } from '../registry/index.ts';
import type { MutatingPass } from './chain.ts';

interface Notes {
  /** Reinvocable ones that ran since the object last changed. */
  readonly called: Set<string>;
  /** Those that are to run again. */
  readonly wanted: Set<string>;
  /** The object after the first pass of the plugin, where one that ran may run again. */
  output: KubeObject | undefined;
}

/** The notes of one plugin, in one of the two passes. */
export class Reinvocation {
  readonly #pass: MutatingPass;
  readonly #notes: Notes;

  /** In the second pass, an `object` other than that of the first one was changed by other plugins: all that ran may run again. */
  constructor(plugin: string, pass: MutatingPass, object: KubeObject | undefined) {
    this.#pass = pass;
    this.#notes = (pass.notes.get(plugin) as Notes | undefined) ?? { called: new Set(), wanted: new Set(), output: undefined };
    pass.notes.set(plugin, this.#notes);
    if (pass.isAgain && !equalJson(this.#notes.output, object)) this.#wantAllAgain();
  }

  /** Whether the one of this key runs in this pass. */
  runs(key: string): boolean {
    return !this.#pass.isAgain || this.#notes.wanted.has(key);
  }

  /** One has changed the object: those that ran before it run again. */
  noteChange(): void {
    this.#wantAllAgain();
    this.#pass.requestAgain();
  }

  /** One that is reinvocable has run. */
  noteCall(key: string): void {
    this.#notes.called.add(key);
  }

  /** The pass of the plugin has ended with this object. */
  finish(object: KubeObject | undefined): void {
    const { called } = this.#notes;
    if (!this.#pass.isAgain && called.size > 0 && object !== undefined) this.#notes.output = cloneJson(object);
  }

  #wantAllAgain(): void {
    const { called, wanted } = this.#notes;
    for (const key of called) wanted.add(key);
    called.clear();
  }
}
