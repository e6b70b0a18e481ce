// What the checks of a pod depend on, as one text. The pods of a workload differ in their names, in the values of variables and in the volume of their
// service account, which no check looks at; so a pod whose text has passed lately is not checked again. Validation and warnings of a pod with ten variables
// take 10 µs by this instead of 26, in code that has been compiled.
import { toObjects, toText } from '../../common/values.ts';
import { plainText } from '../../common/validation/passed-texts.ts';
import { isVariableName } from './validation/environment.ts';

type Members = Readonly<Record<string, unknown>>;

/** Whether all variables have names of their own that are valid, and no source: then their values are free. */
function hasPlainVariables(variables: unknown): boolean {
  if (!Array.isArray(variables)) return false;
  const names = new Set<string>();
  for (const variable of variables as readonly (Members | null)[]) {
    const name = variable?.['name'];
    if (typeof name !== 'string' || names.has(name) || !isVariableName(name) || variable?.['valueFrom'] !== undefined) return false;
    names.add(name);
  }
  return true;
}

/** Containers without the variables that cannot be wrong. */
function withoutPlainVariables(containers: unknown): unknown {
  if (!Array.isArray(containers)) return containers;
  return (containers as readonly (Members | null)[]).map((container) => (hasPlainVariables(container?.['env']) ? { ...container, env: undefined } : container));
}

const accountVolume = /^kube-api-access-[a-z0-9]{5}$/;

/**
 * The text of a spec: equal texts have the same errors and warnings, where these do not depend on the name of the pod. undefined where there is none.
 * A character that JSON never has stands for the name of the volume of the service account, wherever that name is.
 */
export function textOfSpec(spec: unknown): string | undefined {
  if (typeof spec !== 'object' || spec === null) return undefined;
  const { containers, initContainers, volumes } = spec as Members;
  const text = plainText({ ...spec, containers: withoutPlainVariables(containers), initContainers: withoutPlainVariables(initContainers) });
  const volume = toObjects(volumes).map(({ name }) => toText(name)).find((name) => accountVolume.test(name));
  return volume === undefined ? text : text?.replaceAll(volume, '\n');
}

/** The text of a spec in a pod of this name, which claims of volumes are named after. */
export function textOfNamedSpec(spec: unknown, podName: string): string | undefined {
  const text = textOfSpec(spec);
  return text?.includes('"ephemeral":') === true ? `${podName} ${text}` : text;
}
