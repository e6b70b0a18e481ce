// /statusz and /flagz: what this server is, and which flags it runs with; as text, or as objects of config.k8s.io for those that ask for them.
import { notAcceptable } from '../../apimachinery/index.ts';
import { formatDurationNanos } from '../../base/index.ts';
import { encodeCbor, stringifyYaml } from '../../codec/index.ts';
import type { Exchange, Response } from '../../endpoints/index.ts';
import type { Logger } from './logger.ts';
import { isGateOn } from '../options/feature-gates.ts';
import { kubernetesVersion, readPackageVersion } from '../cli/version.ts';
import { type ServerOptions, serverSchema } from '../options/options.ts';
import type { Option } from '../options/schema.ts';

const WARNING = 'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const describeDeprecation = (page: string): string => `299 - "This version of the ${page} endpoint is deprecated. Please use a newer version."`;
const NANOS_PER_MS = 1e6;
const encoder = new TextEncoder();

/** `Mon Nov  2 15:04:05 UTC 2026`. */
function formatUnixDate(date: Date): string {
  const [, weekday = '', day = '', month = '', year = '', time = ''] = /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(date.toUTCString()) ?? [];
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

/** Paths that /statusz names. */
const shownPaths = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version'];

type Media = 'json' | 'yaml' | 'cbor';
type Page = 'statusz' | 'flagz';
type Form = { readonly type: 'text' } | { readonly type: 'object'; readonly media: Media; readonly version: string };

/** The first form of an Accept header that there is. */
function chooseForm(accept: string, kind: string, medias: readonly Media[]): Form | undefined {
  for (const range of accept.split(',')) {
    const [media = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (['', '*/*', 'text/*', 'text/plain'].includes(media)) return { type: 'text' };
    const wanted = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
    const version = wanted.get('v') ?? '';
    const isKnown = wanted.get('g') === 'config.k8s.io' && wanted.get('as') === kind && ['v1alpha1', 'v1beta1'].includes(version);
    const form = medias.find((one) => media === `application/${one}`);
    if (isKnown && form !== undefined) return { type: 'object', media: form, version };
  }
  return undefined;
}

/** Go's spelling of a setting. */
function formatSetting({ type, shown }: Option<unknown>, value: unknown): string {
  if (shown !== undefined) return shown(value);
  if (Array.isArray(value)) return `[${value.join(',')}]`;
  return type === 'duration' ? formatDurationNanos(Math.round(Number(value) * NANOS_PER_MS)) : String(value);
}

function listFlags(options: ServerOptions, { verbosity, format }: Logger): [string, string][] {
  const rows = Object.entries(serverSchema as Readonly<Record<string, Option<unknown>>>).flatMap(([name, option]): [string, string][] =>
    (option.flag === undefined ? [] : [[option.flag, formatSetting(option, options[name as keyof ServerOptions])]]));
  const own: [string, string][] = [...(format === undefined ? [] : [['logging-format', format] as [string, string]]), ['v', String(Math.max(0, verbosity))]];
  return [...rows, ...own].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Answers both pages; undefined for all other paths. */
export function createZPages({ options }: { readonly options: ServerOptions & { readonly logger: Logger } }): (exchange: Exchange) => Response | undefined {
  const { clock, logger } = options;
  const medias: readonly Media[] = isGateOn(options.featureGates, 'CBORServingAndStorage') ? ['json', 'yaml', 'cbor'] : ['json', 'yaml'];
  const [startedMs, startedAt] = [clock.monotonicMs(), new Date(clock.now())];
  const [binaryVersion, emulationVersion] = [kubernetesVersion.gitVersion.slice(1), `${kubernetesVersion.emulationMajor}.${kubernetesVersion.emulationMinor}`];
  const describeStatus = () => ({
    startTime: `${startedAt.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`, uptimeSeconds: Math.floor((clock.monotonicMs() - startedMs) / 1000),
    goVersion: '', binaryVersion, emulationVersion, paths: shownPaths,
  });
  const formatStatus = (): string => {
    const { uptimeSeconds: up } = describeStatus();
    const pad = (number: number): string => String(Math.floor(number)).padStart(2, '0');
    return [
      `Started: ${formatUnixDate(startedAt)}`, `Up: ${Math.floor(up / 3600)} hr ${pad((up % 3600) / 60)} min ${pad(up % 60)} sec`,
      `Node version: ${process.version}`, `Program version: pintle ${readPackageVersion()}`, `Binary version: ${binaryVersion}`,
      `Emulation version: ${emulationVersion}`, `Paths: ${shownPaths.join(' ')}`,
    ].join('\n');
  };
  const pages = {
    statusz: { kind: 'Statusz', text: formatStatus, object: describeStatus },
    flagz: {
      kind: 'Flagz', text: () => listFlags(options, logger).map(([name, value]) => `${name}: ${value}`).join('\n'),
      object: () => ({ flags: Object.fromEntries(listFlags(options, logger)) }),
    },
  } as const;
  return (exchange) => {
    const name = exchange.path.slice(1);
    if (name !== 'statusz' && name !== 'flagz') return undefined;
    return answerPage(exchange, name, { ...pages[name], medias });
  };
}

interface Content {
  readonly kind: string;
  readonly text: () => string;
  readonly object: () => object;
  readonly medias: readonly Media[];
}

function answerPage(exchange: Exchange, page: Page, { kind, text, object, medias }: Content): Response {
  const form = chooseForm(exchange.headers['accept'] ?? '', kind, medias);
  if (form === undefined) throw notAcceptable([...medias.map((media) => `application/${media}`), 'text/plain'].sort());
  if (form.type === 'text') {
    const body = encoder.encode(`\napiserver ${page}\n${WARNING}\n${page === 'statusz' ? '\n' : ''}${text()}\n`);
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
  }
  const { media, version } = form;
  const document = { kind, apiVersion: `config.k8s.io/${version}`, metadata: { name: 'apiserver' }, ...object() };
  const headers = {
    'content-type': `application/${media};g=config.k8s.io;v=${version};as=${kind}`, ...(version === 'v1alpha1' && { warning: describeDeprecation(page) }),
  };
  if (media === 'cbor') return { status: 200, headers, body: encodeCbor(document, { sortsKeys: true }) };
  return { status: 200, headers, body: encoder.encode(media === 'json' ? JSON.stringify(document, null, 2) : stringifyYaml(document)) };
}
