// Assignability of types with parameters: what a type variable stands for is found out as types are compared.
import { type CelType, CelType as CelTypeClass, dynType, isDyn, isDynOrError, sameType } from '../values/types.ts';

/** What type variables stand for, by name. */
export class Substitutions {
  readonly #map = new Map<string, CelType>();
  /** What each change since the last comparison replaced, so that one that fails can be undone without copying the map. */
  readonly #changes: { readonly name: string; readonly before: CelType | undefined }[] = [];

  #set(name: string, type: CelType): void {
    this.#changes.push({ name, before: this.#map.get(name) });
    this.#map.set(name, type);
  }

  #undo(): void {
    for (let change = this.#changes.pop(); change !== undefined; change = this.#changes.pop()) {
      if (change.before === undefined) this.#map.delete(change.name);
      else this.#map.set(change.name, change.before);
    }
  }

  find(type: CelType): CelType | undefined {
    return this.#map.get(type.name);
  }

  /** True when all types are assignable to their counterparts; what that taught is kept only then. */
  assignAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false;
    if (!to.some(hasParams) && !from.some(hasParams)) return from.every((type, i) => this.#isAssignable(type, to[i]!));
    this.#changes.length = 0;
    if (from.every((type, i) => this.#isAssignable(type, to[i]!))) return true;
    this.#undo();
    return false;
  }

  assign(from: CelType, to: CelType): boolean {
    return this.assignAll([from], [to]);
  }

  /** The type with its variables replaced; free ones become dyn if asked. */
  apply(type: CelType, freeToDyn: boolean): CelType {
    if (type.kind === 'param') {
      const found = this.#map.get(type.name);
      if (found !== undefined) return this.apply(found, freeToDyn);
      return freeToDyn ? dynType : type;
    }
    if (type.params.length === 0) return type;
    return new CelTypeClass(type.kind, type.name, { params: type.params.map((param) => this.apply(param, freeToDyn)), nullable: type.nullable });
  }

  #isAssignable(a: CelType, b: CelType): boolean {
    if (b.kind === 'param') {
      const outcome = this.#substitute(a, b);
      if (outcome !== undefined) return outcome;
    }
    if (a.kind === 'param') return this.#substitute(b, a) ?? false;
    if (isDynOrError(a) || isDynOrError(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    if (a.kind !== b.kind) return false;
    if (a.kind === 'type') return true;
    if (a.name !== b.name) return false;
    return a.params.length === b.params.length && a.params.every((param, i) => this.#isAssignable(param, b.params[i]!));
  }

  /** Whether a variable can stand for a type; undefined when it is free and cannot. */
  #substitute(type: CelType, variable: CelType): boolean | undefined {
    if (type.kind === 'param' && type.name === variable.name) return true;
    const known = this.#map.get(variable.name);
    if (known === undefined) {
      if (this.#refersTo(type, variable)) return undefined;
      this.#set(variable.name, type);
      return true;
    }
    if (sameType(type, known)) return true;
    if (!this.#isAssignable(type, known)) return false;
    const general = mostGeneral(type, known);
    if (!this.#refersTo(general, variable)) this.#set(variable.name, general);
    return true;
  }

  #refersTo(type: CelType, variable: CelType): boolean {
    if (type.kind === 'param') {
      if (type.name === variable.name) return true;
      const known = this.#map.get(type.name);
      return known !== undefined && this.#refersTo(known, variable);
    }
    return type.params.some((param) => this.#refersTo(param, variable));
  }
}

const hasParams = (type: CelType): boolean => type.kind === 'param' || type.params.some(hasParams);

const nullableKinds: ReadonlySet<string> = new Set(['null', 'struct', 'opaque', 'timestamp', 'duration', 'any']);

function isNullable(type: CelType): boolean {
  return type.nullable || nullableKinds.has(type.kind);
}

/** The less specific of two types that are assignable to each other. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (a.kind !== b.kind || a.name !== b.name) return false;
  if (a.nullable !== b.nullable) return a.nullable;
  return a.params.length === b.params.length && a.params.every((param, i) => isLessSpecific(param, b.params[i]!));
}
