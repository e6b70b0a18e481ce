// Which containers of a pod may run again after they have ended, and so which states a status may go back to.
import { type JsonObject, type KubeObject, forbiddenField } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, each } from '../../common/validation/check.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../common/values.ts';

const RESTART_ALL = 'RestartAllContainers';

/** The action of the first rule that an exit code fits. */
function findAction(container: JsonObject, exitCode: number): unknown {
  return toObjects(container['restartPolicyRules']).find((rule) => {
    const codes = toList(readPath(rule, 'exitCodes', 'values')).map(toNumber);
    const operator = readPath(rule, 'exitCodes', 'operator');
    return operator === 'In' ? codes.includes(exitCode) : operator === 'NotIn' && !codes.includes(exitCode);
  })?.['action'];
}

/** Whether a policy runs a container again; undefined where it is none that is known. */
function allows(policy: unknown, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  return policy === 'OnFailure' ? exitCode !== 0 : policy === 'Never' ? false : undefined;
}

/** Whether a container that ended with a code runs again: by its rules, its own policy, or that of the pod. */
function mayRestart(container: JsonObject, spec: JsonObject, exitCode: number): boolean {
  const isPlain = container['restartPolicy'] === undefined;
  const action = isPlain ? undefined : findAction(container, exitCode);
  if (action === 'Restart' || action === RESTART_ALL) return true;
  return (isPlain ? undefined : allows(container['restartPolicy'], exitCode)) ?? allows(spec['restartPolicy'], exitCode) ?? true;
}

/** Problems of containers that a status takes back from their end, at the places that they have in the stored status. */
export function checkTransitions(status: Field, old: KubeObject): Errors {
  const spec = toObject(old['spec']) as JsonObject;
  const containersOf = (list: string): JsonObject[] => [...toObjects(spec[list])];
  const all = ['initContainers', 'containers'].flatMap(containersOf).flatMap((container) => toObjects(container['restartPolicyRules']));
  const restartsAll = all.some(({ action }) => action === RESTART_ALL);
  const check = (list: string, mayRun: (name: string, exitCode: number) => boolean): Errors => {
    const states = new Map<string, unknown>();
    for (const one of each(at(status, list))) {
      const name = toText(readPath(one.value, 'name'));
      const isOver = readPath(one.value, 'state', 'terminated') !== undefined;
      if (!isOver) states.set(name, one.value);
    }
    return toObjects(readPath(old, 'status', list)).flatMap((before, index): Errors => {
      const ended = readPath(before, 'state', 'terminated');
      const name = toText(before['name']);
      if (ended === undefined || !states.has(name) || mayRun(name, toNumber(readPath(ended, 'exitCode') ?? 0))) return [];
      return [forbiddenField(`${status.path}.${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
    });
  };
  const byRule = (list: string) => (name: string, exitCode: number): boolean => {
    const container = containersOf(list).find((one) => one['name'] === name);
    return restartsAll || (container !== undefined && mayRestart(container, spec, exitCode));
  };
  return [
    ...check('containerStatuses', byRule('containers')), ...check('initContainerStatuses', byRule('initContainers')),
    ...check('ephemeralContainerStatuses', () => false),
  ];
}
