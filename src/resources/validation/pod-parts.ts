// Parts of a pod as messages print them: the way the reference keeps them in memory.
import type { JsonObject } from '../../apimachinery/index.ts';
import { toObject } from '../columns/common.ts';
import { type GoStructs, readGoStructs, shapeGoStruct } from './go-structs.ts';
import { podStructs } from './pod-structs.data.ts';

let structs: GoStructs | undefined;

/** A part of a pod as the struct of that name prints. */
export function showPodPart(name: string, value: unknown): unknown {
  structs ??= readGoStructs(podStructs);
  return shapeGoStruct(structs, name, value);
}

const hostMembers = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A spec as the reference prints it: what concerns the host is part of the security context there. */
export function showPodSpec(spec: JsonObject): unknown {
  const ofHost = Object.fromEntries(hostMembers.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
  return showPodPart('PodSpec', { ...spec, securityContext: { ...toObject(spec['securityContext']), ...ofHost } });
}
