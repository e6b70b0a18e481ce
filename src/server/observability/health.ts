// /healthz, /livez and /readyz: named checks, `?verbose`, `?exclude=`, and a path per check. Texts as the reference prints them.
import type { Exchange, Response } from '../../endpoints/index.ts';

/** One named check; throws or rejects when it fails. */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => Promise<void> | void;
  /** The roots where it counts. */
  readonly roots: readonly HealthRoot[];
  /** Excluding the check of this name excludes this one as well. */
  readonly group?: string;
  /** Faults that the server works around: the check passes, its own path names each, and the roots say how many there are. */
  readonly warnings?: () => readonly string[];
}

type HealthRoot = 'healthz' | 'livez' | 'readyz';
/** The paths of health. */
export const healthRoots: readonly HealthRoot[] = ['healthz', 'livez', 'readyz'];

const encoder = new TextEncoder();
const textHeaders = { 'content-type': 'text/plain; charset=utf-8' };
/** A check that hangs is a check that fails. */
const CHECK_TIMEOUT_MS = 2000;

/** Answers health paths; undefined when the path is not one of them (an unknown check included). */
export function createHealthHandler(checks: readonly HealthCheck[]): (exchange: Exchange) => Promise<Response | undefined> {
  return async (exchange) => {
    const { path } = exchange;
    const slash = path.indexOf('/', 1);
    const [root, name] = slash === -1 ? [path.slice(1)] : [path.slice(1, slash), path.slice(slash + 1)];
    const checked = checks.filter((check) => check.roots.some((one) => one === root));
    if (checked.length === 0) return undefined;
    if (name === undefined) return answerRoot(root, checked, exchange);
    const single = checked.find((check) => check.name === name);
    if (single === undefined) return undefined;
    const failure = await runCheck(single, exchange);
    if (failure !== undefined) return answerText(500, `internal server error: ${failure}\n`);
    const warnings = single.warnings?.().map((warning) => `\nwarning: ${warning}`) ?? [];
    return { status: 200, headers: textHeaders, body: encoder.encode(`ok${warnings.join('')}`) };
  };
}

/** The outcome of every check, once for each root where it counts. */
export async function runChecks(checks: readonly HealthCheck[], { clock }: Pick<Exchange, 'clock'>) {
  const outcomes = await Promise.all(checks.map(async (check) => ({ check, passed: await runCheck(check, { clock }) === undefined })));
  return outcomes.flatMap(({ check: { name, roots }, passed }) => roots.map((type) => ({ name, type, passed })));
}

/** The paths that exist, for the index at `/`. */
export function listHealthPaths(checks: readonly HealthCheck[]): string[] {
  return healthRoots.flatMap((root) => [`/${root}`, ...checks.filter(({ roots }) => roots.includes(root)).map(({ name }) => `/${root}/${name}`)]);
}

async function answerRoot(root: string, checks: readonly HealthCheck[], exchange: Exchange): Promise<Response> {
  const excluded = new Set(exchange.query.getAll('exclude').flatMap((names) => names.split(',')).filter((name) => name !== ''));
  const lines: string[] = [];
  let failed = false;
  const isExcluded = ({ name, group = '' }: HealthCheck): boolean => excluded.has(name) || excluded.has(group);
  const outcomes = await Promise.all(checks.map(async (check) => (isExcluded(check) ? 'excluded' : await runCheck(check, exchange))));
  for (const [index, outcome] of outcomes.entries()) {
    const { name, group = '', warnings } = checks[index] as HealthCheck;
    const count = warnings?.().length ?? 0;
    if (outcome === 'excluded') lines.push(`[+]${name} excluded${excluded.has(name) ? '' : ` with ${group}`}: ok`);
    else if (outcome === undefined) lines.push(`[+]${name} ok${count === 0 ? '' : `, warnings: ${count}, see /${root}/${name}`}`);
    else lines.push(`[-]${name} failed: reason withheld`);
    failed ||= outcome !== undefined && outcome !== 'excluded';
  }
  const unmatched = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  if (unmatched.length > 0) {
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unmatched.sort().map((name) => JSON.stringify(name)).join(',')}`);
  }
  if (failed) return answerText(500, [...lines, `${root} check failed`, ''].join('\n'));
  return answerText(200, exchange.query.has('verbose') ? [...lines, `${root} check passed`, ''].join('\n') : 'ok');
}

async function runCheck(check: HealthCheck, { clock }: Pick<Exchange, 'clock'>): Promise<string | undefined> {
  let cancel = () => {};
  const late = new Promise<string>((resolve) => {
    const timer = clock.after(CHECK_TIMEOUT_MS, () => resolve('timed out'));
    cancel = () => timer.cancel();
  });
  try {
    return await Promise.race([Promise.resolve(check.check()).then(() => undefined), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    cancel();
  }
}

/** A plain-text answer with the headers of the reference's text answers. */
export function answerText(status: number, text: string): Response {
  return { status, headers: { ...textHeaders, 'x-content-type-options': 'nosniff' }, body: encoder.encode(text) };
}
