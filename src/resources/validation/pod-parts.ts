// Parts of a pod as messages print them: the way the reference keeps them in memory.
import { type GoStructs, readGoStructs, shapeGoStruct } from './go-structs.ts';
import { podStructs } from './pod-structs.data.ts';

let structs: GoStructs | undefined;

/** A part of a pod as the struct of that name prints. */
export function showPodPart(name: string, value: unknown): unknown {
  structs ??= readGoStructs(podStructs);
  return shapeGoStruct(structs, name, value);
}
