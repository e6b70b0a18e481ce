// /debug/pprof, with the profiles of V8 in place of Go's: `profile` is a .cpuprofile, `heap` a sampled .heapprofile, both for the tools of
// Chrome and Node. One profile is taken at a time. And /debug/flags/v, which changes the verbosity of the log.
import { Session } from 'node:inspector/promises';
import { failure } from '../../apimachinery/index.ts';
import type { Exchange, Response } from '../../endpoints/index.ts';
import { answerText } from './health.ts';
import type { Logger } from './logger.ts';

const ROOT = '/debug/pprof';
const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;
const encoder = new TextEncoder();

/** How a profile is begun and ended; `end` answers what V8 made. */
interface Profile {
  readonly help: string;
  readonly begin: readonly (readonly [method: string, parameters: object])[];
  readonly end: string;
  readonly file: string;
}

const profiles: Readonly<Record<string, Profile>> = {
  profile: {
    help: 'CPU profile (?seconds=30), for chrome://inspect and others', file: 'pintle.cpuprofile',
    begin: [['Profiler.enable', {}], ['Profiler.start', {}]], end: 'Profiler.stop',
  },
  heap: {
    help: 'sampled allocations that are alive at the end (?seconds=30)', file: 'pintle.heapprofile',
    begin: [['HeapProfiler.enable', {}], ['HeapProfiler.startSampling', { samplingInterval: 32_768 }]], end: 'HeapProfiler.stopSampling',
  },
};

/** A session with V8, without the types of every method. */
interface Protocol {
  connect(): void;
  disconnect(): void;
  post(method: string, parameters?: object): Promise<unknown>;
}

function readSeconds({ query }: Exchange): number {
  const seconds = Number(query.get('seconds') || DEFAULT_SECONDS);
  return seconds > 0 && seconds <= MAX_SECONDS ? seconds : DEFAULT_SECONDS;
}

/** Resolves after a time, or once the client is gone. */
function waitOrLeave({ clock, signal }: Exchange, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

async function takeProfile({ begin, end, file }: Profile, exchange: Exchange): Promise<Response> {
  const session = new Session() as unknown as Protocol;
  session.connect();
  try {
    for (const [method, parameters] of begin) await session.post(method, parameters);
    await waitOrLeave(exchange, readSeconds(exchange) * 1000);
    const { profile } = await session.post(end) as { readonly profile: unknown };
    const headers = {
      'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'content-disposition': `attachment; filename="${file}"`,
    };
    return { status: 200, headers, body: encoder.encode(JSON.stringify(profile)) };
  } finally {
    session.disconnect();
  }
}

function answerIndex(): Response {
  const rows = Object.entries(profiles).map(([name, { help }]) => `<tr><td><a href='${name}'>${name}</a></td><td>${help}</td></tr>`);
  const page = `<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/<br>\n<table>\n${rows.join('\n')}\n</table>\n</body>\n</html>\n`;
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' }, body: encoder.encode(page) };
}

const redirect = (location: string): Response => ({
  status: 302, headers: { location, 'content-type': 'text/html; charset=utf-8' }, body: encoder.encode(`<a href="${location}">Found</a>.\n\n`),
});

/** Answers the paths of profiling; undefined for all others. */
export function createProfiling({ logger }: { readonly logger: Logger }): (exchange: Exchange) => Promise<Response> | Response | undefined {
  let isBusy = false;
  return (exchange) => {
    const { path } = exchange;
    if (path === '/debug/flags/v') return changeVerbosity(exchange, logger);
    if (path === ROOT) return redirect(`${ROOT}/`);
    if (!path.startsWith(`${ROOT}/`)) return undefined;
    const name = path.slice(ROOT.length + 1);
    if (name === '') return answerIndex();
    const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (profile === undefined) return answerText(404, 'Unknown profile\n');
    if (isBusy) throw failure(429, 'TooManyRequests', 'another profile is being taken', { retryAfterSeconds: 1 });
    isBusy = true;
    return takeProfile(profile, exchange).finally(() => {
      isBusy = false;
    });
  };
}

async function changeVerbosity(exchange: Exchange, logger: Logger): Promise<Response> {
  if (exchange.method !== 'PUT') return answerText(406, 'unsupported http method\n');
  const text = new TextDecoder().decode(await exchange.readBody(100));
  if (!/^\d{1,3}$/.test(text)) return answerText(400, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax\n`);
  logger.verbosity = Number(text);
  return answerText(200, `successfully set klog.logging.verbosity to ${text}\n`);
}
