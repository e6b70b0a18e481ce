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

/** Whether the container of a name that ended with a code may run again. */
type MayRun = (name: string, exitCode: number) => boolean;

const isOver = (status: unknown): boolean => readPath(status, 'state', 'terminated') !== undefined;

function readRule(spec: JsonObject, list: string): MayRun {
  const rules = ['initContainers', 'containers'].flatMap((one) => toObjects(spec[one])).flatMap((container) => toObjects(container['restartPolicyRules']));
  if (rules.some(({ action }) => action === RESTART_ALL)) return () => true;
  // Of several with one name the first counts.
  const byName = new Map([...toObjects(spec[list])].reverse().map((container) => [toText(container['name']), container]));
  return (name, exitCode) => {
    const container = byName.get(name);
    return container !== undefined && mayRestart(container, spec, exitCode);
  };
}

/** Problems of containers that a status takes back from their end, at the places that they have in the stored status. */
export function checkTransitions(status: Field, old: KubeObject): Errors {
  const spec = toObject(old['spec']) as JsonObject;
  const check = (list: string, makeRule: () => MayRun): Errors => {
    const ended = [...toObjects(readPath(old, 'status', list)).entries()].filter(([, one]) => isOver(one));
    if (ended.length === 0) return [];
    const mayRun = makeRule();
    const running = new Set(each(at(status, list)).filter(({ value }) => !isOver(value)).map(({ value }) => toText(readPath(value, 'name'))));
    return ended.flatMap(([index, one]): Errors => {
      const name = toText(one['name']);
      if (!running.has(name) || mayRun(name, toNumber(readPath(one, 'state', 'terminated', 'exitCode') ?? 0))) return [];
      return [forbiddenField(`${status.path}.${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
    });
  };
  return [
    ...check('containerStatuses', () => readRule(spec, 'containers')), ...check('initContainerStatuses', () => readRule(spec, 'initContainers')),
    ...check('ephemeralContainerStatuses', () => () => false),
  ];
}
