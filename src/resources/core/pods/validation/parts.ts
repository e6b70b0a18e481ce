// Parts of a pod as messages print them: in the form of the Go structs of the reference.
import { once } from '../../../../base/index.ts';
import type { JsonObject } from '../../../../apimachinery/index.ts';
import { readGoStructs, shapeGoStruct } from '../../../common/validation/go-structs.ts';
import { toObject } from '../../../common/values.ts';
import { podStructs } from './structs.data.ts';

const structs = once(() => readGoStructs(podStructs));

/** A part of a pod in the form that the struct of that name prints. */
export function showPodPart(name: string, value: unknown): unknown {
  return shapeGoStruct(structs(), name, value);
}

const hostMembers = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A spec as messages print it: the host members are part of the security context in the Go struct. */
export function showPodSpec(spec: JsonObject): unknown {
  const ofHost = Object.fromEntries(hostMembers.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
  return showPodPart('PodSpec', { ...spec, securityContext: { ...toObject(spec['securityContext']), ...ofHost } });
}
