// Validation of probes, and of the lifecycle hooks of a container.
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkNotNegative, checkOneOf, checkRequired, isGiven, isWrong } from '../../../common/validation/check.ts';
import { checkPort, checkPortNumber } from '../../../common/validation/ports.ts';
import { readPath, toInteger, toList, toNumber, toText } from '../../../common/values.ts';

const HEADER_PROBLEM = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', "
  + "regex used for validation is '[-A-Za-z0-9]+')";

function checkHttpGet(http: Field): Errors {
  const scheme = at(http, 'scheme');
  const headers = at(http, 'httpHeaders');
  const names = toList(headers.value).map((header) => toText(readPath(header, 'name')));
  return [
    ...checkRequired(at(http, 'path')), ...checkPort(at(http, 'port')),
    ...(['HTTP', 'HTTPS'].includes(toText(scheme.value)) ? [] : [notSupported(scheme.path, toText(scheme.value), ['HTTP', 'HTTPS'])]),
    ...names.filter((name) => !/^[-A-Za-z0-9]+$/.test(name)).map((name) => invalidValue(headers.path, name, HEADER_PROBLEM)),
  ];
}

function checkSleep(sleep: Field, graceSeconds: unknown): Errors {
  const seconds = toInteger(readPath(sleep.value, 'seconds'));
  const isWhole = typeof graceSeconds === 'number' || typeof graceSeconds === 'bigint';
  if (!isWhole || (seconds >= 0 && seconds <= graceSeconds)) return [];
  return [invalidValue(sleep.path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
}

function checkExec(exec: Field): Errors {
  const command = at(exec, 'command');
  return toList(command.value).length === 0 ? [required(command.path)] : [];
}

const handlers: Readonly<Record<string, (handler: Field, graceSeconds: unknown) => Errors>> = {
  exec: checkExec, httpGet: checkHttpGet, tcpSocket: (socket) => checkPort(at(socket, 'port')), grpc: (grpc) => checkPortNumber(at(grpc, 'port')),
  sleep: checkSleep,
};

function checkHandler(parent: Field, graceSeconds: unknown): Errors {
  const given = Object.keys(handlers).filter((name) => isGiven(at(parent, name)));
  const [first, ...more] = given;
  if (first === undefined) return [required(parent.path, 'must specify a handler type')];
  return [
    ...handlers[first]!(at(parent, first), graceSeconds),
    ...more.map((name) => forbiddenField(at(parent, name).path, 'may not specify more than 1 handler type')),
  ];
}

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

/** Validates the lifecycle hooks of a container; `graceSeconds` is the grace period of the pod. */
export function checkHooks(container: Field, graceSeconds: unknown): Errors {
  return ['postStart', 'preStop'].map((name) => at(container, 'lifecycle', name)).filter(isGiven).flatMap((hook) => checkHandler(hook, graceSeconds));
}

const realTime = (name: string, count: number, sign: string): string[] => [name, ...Array.from({ length: count }, (_, index) => `${name}${sign}${index + 1}`)];

const signals: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['linux', [
    ...`ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM
      WINCH XCPU XFSZ`.split(/\s+/).map((name) => `SIG${name}`),
    ...realTime('SIGRTMIN', 15, '+'), ...realTime('SIGRTMAX', 14, '-'),
  ]],
  ['windows', ['SIGKILL', 'SIGTERM']],
]);

/** Validates the signal that ends a container, which the system of the pod has. */
export function checkStopSignal(container: Field, pod: unknown): Errors {
  const [signal, system] = [at(container, 'lifecycle', 'stopSignal'), readPath(pod, 'os')];
  if (!isGiven(signal)) return [];
  if (system === undefined) return [forbiddenField(signal.path, 'may not be set for containers with empty `spec.os.name`')];
  const known = signals.get(readPath(system, 'name'));
  return known === undefined ? [] : checkOneOf(signal, known);
}

/** Validates the probes of a container. */
export function checkProbes(container: Field, graceSeconds: unknown): Errors {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].map((name) => at(container, name)).filter(isGiven).flatMap((probe) => {
    const isForReadiness = probe.path.endsWith('readinessProbe');
    const [grace, success] = [at(probe, 'terminationGracePeriodSeconds'), at(probe, 'successThreshold')];
    const errors: FieldError[] = [...checkHandler(probe, graceSeconds), ...checkNotNegative(...counts.map((name) => at(probe, name)))];
    if (isGiven(grace) && toNumber(grace.value) <= 0) errors.push(isWrong(grace, 'must be greater than 0'));
    if (isGiven(grace) && isForReadiness) errors.push(isWrong(grace, 'must not be set for readinessProbes'));
    if (!isForReadiness && toNumber(success.value) !== 1) errors.push(invalidValue(success.path, success.value ?? 0, 'must be 1'));
    return errors;
  });
}

/** Lifecycle and probes are forbidden for containers that run to completion. */
export function forbidHandlers(container: Field): Errors {
  return ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].map((name) => at(container, name)).filter(isGiven)
    .map(({ path }) => forbiddenField(path, 'may not be set for init containers without restartPolicy=Always'));
}
