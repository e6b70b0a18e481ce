// Which containers of a pod may run again after they have ended, and so which states a status may go back to.
import { type JsonObject, type KubeObject, forbiddenField } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, each } from '../../common/validation/check.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../common/values.ts';

const RESTART_ALL = 'RestartAllContainers';

/** A rule of a container for what follows some exit codes. */
interface Rule {
  readonly action: unknown;
  readonly fits: (exitCode: number) => boolean;
}

/** The rules of a container, read once: a status may have thousands of entries of one name. */
function readRules(container: JsonObject): readonly Rule[] {
  return toObjects(container['restartPolicyRules']).map((rule) => {
    const codes = new Set(toList(readPath(rule, 'exitCodes', 'values')).map(toNumber));
    const operator = readPath(rule, 'exitCodes', 'operator');
    return { action: rule['action'], fits: (exitCode) => (operator === 'In' ? codes.has(exitCode) : operator === 'NotIn' && !codes.has(exitCode)) };
  });
}

/** Whether a policy runs a container again; undefined where it is none that is known. */
function allows(policy: unknown, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  return policy === 'OnFailure' ? exitCode !== 0 : policy === 'Never' ? false : undefined;
}

/** Whether a container that ended with a code runs again: by its rules, which need a policy of its own, by that policy, or by that of the pod. */
function readRestarts(container: JsonObject, spec: JsonObject): (exitCode: number) => boolean {
  const policy = container['restartPolicy'];
  const rules = policy === undefined ? [] : readRules(container);
  return (exitCode) => {
    const action = rules.find(({ fits }) => fits(exitCode))?.action;
    if (action === 'Restart' || action === RESTART_ALL) return true;
    return allows(policy, exitCode) ?? allows(spec['restartPolicy'], exitCode) ?? true;
  };
}

/** Whether the container of a name that ended with a code may run again. */
type MayRun = (name: string, exitCode: number) => boolean;

const isOver = (status: unknown): boolean => readPath(status, 'state', 'terminated') !== undefined;

function readRule(spec: JsonObject, list: string): MayRun {
  const rules = ['initContainers', 'containers'].flatMap((one) => toObjects(spec[one])).flatMap((container) => toObjects(container['restartPolicyRules']));
  if (rules.some(({ action }) => action === RESTART_ALL)) return () => true;
  // Of several with one name the first counts.
  const byName = new Map([...toObjects(spec[list])].reverse().map((container) => [toText(container['name']), readRestarts(container, spec)]));
  return (name, exitCode) => byName.get(name)?.(exitCode) === true;
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
