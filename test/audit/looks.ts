// Asides that look at what a server says beside its answers: values of metrics, tables, its log, and the headers that webhooks get.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Json } from '../differential/case.ts';
import type { Aside } from './scene.ts';

const parseLine = (line: string): Json | undefined => {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
};

/** A member of a member; its names alone where a `!` stands behind. */
function readMember(object: Json, name: string): unknown {
  const value = name.replace('!', '').split('.').reduce((at: Json | undefined, key) => at?.[key], object);
  return name.endsWith('!') ? Object.keys(value ?? {}).sort() : value;
}

export const looks: Readonly<Record<string, Aside>> = {
  /** Samples of a metric that contain a text, `values:METRIC?TEXT`, where another page than /metrics has them `values:METRIC?TEXT?PAGE`. */
  async values({ peer }, rest, request) {
    const [name, wanted = '', page = '/metrics'] = rest.split('?') as [string, string?, string?];
    const { text } = await peer.client.request({ ...request, path: page });
    return text.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line) && line.includes(wanted)).sort().map((line) => {
      const at = line.lastIndexOf(' ');
      return { sample: line.slice(0, at), value: line.slice(at + 1) };
    });
  },
  /** Columns of a table of values with commas between, and the lines that contain a text: `columns:NAME,NAME?TEXT/path`. */
  async columns({ peer }, rest, request) {
    const at = rest.indexOf('/');
    const [names, wanted = ''] = rest.slice(0, at).split('?') as [string, string?];
    const { status, text } = await peer.client.request({ ...request, path: rest.slice(at) });
    const [head = [], ...lines] = text.split('\n').filter((line) => line !== '').map((line) => line.split(/, */));
    return { status, head, lines: lines.filter((line) => line.join().includes(wanted))
      .map((line) => names.split(',').map((name) => line[head.indexOf(name)]).join()) };
  },
  /** Members of an answer and the names of all: `fields:MEMBER,MEMBER.MEMBER/path`. */
  async fields({ peer }, rest, request) {
    const at = rest.indexOf('/');
    const { status, headers, text, body = parseLine(text) } = await peer.client.request({ ...request, path: rest.slice(at) });
    return { status, contentType: headers['content-type'], names: Object.keys((body ?? {}) as Json),
      members: Object.fromEntries(rest.slice(0, at).split(',').map((name) => [name, readMember(body as Json, name)])) };
  },
  /** Lines of the server's log, JSON objects, that contain a text: the fields that are named, of those with a `!` the type, `log:FIELD,FIELD!?TEXT`. */
  log({ place }, rest) {
    const [names, wanted = ''] = rest.split('?') as [string, string?];
    const show = (line: Json, name: string): unknown => (name.endsWith('!') ? typeof line[name.slice(0, -1)] : line[name]);
    return readFileSync(place.file('log'), 'utf8').split('\n').filter((line) => line.includes(wanted)).map(parseLine).filter((line) => line !== undefined)
      .map((line) => Object.fromEntries(names.split(',').map((name) => [name, show(line, name)])));
  },
  /** Headers of the calls of a webhook that contain a text: the values of those that are named, `headers:NAME,NAME?WEBHOOK?TEXT`. */
  headers({ place }, rest) {
    const [names, webhook, wanted = ''] = rest.split('?') as [string, string, string?];
    return place.calls.filter((call) => call.name === webhook && JSON.stringify(call.body).includes(wanted))
      .map(({ headers }) => Object.fromEntries(names.split(',').map((name) => [name, headers[name]])));
  },
  /** The traces that the calls of a webhook which contain a text belong to, `traces:WEBHOOK?TEXT`. */
  traces({ place }, rest) {
    const [webhook, wanted = ''] = rest.split('?') as [string, string?];
    return place.calls.filter((call) => call.name === webhook && JSON.stringify(call.body).includes(wanted))
      .map(({ headers }) => { const [version, trace, , flags] = String(headers['traceparent']).split('-'); return { version, trace, flags }; });
  },
  /** Members of the items of a list, with words for the names of the machine and of its server: `masked:MEMBER,MEMBER.MEMBER/path`. */
  async masked({ peer }, rest, request) {
    const at = rest.indexOf('/');
    const { body } = await peer.client.request({ ...request, path: rest.slice(at) });
    const items = ((body as Json)['items'] as Json[]).map((item) => rest.slice(0, at).split(',').map((name) => readMember(item, name)));
    return JSON.parse(JSON.stringify(items).replaceAll(hostname(), '<host>').replace(/apiserver-[a-z0-9]{26}/g, 'apiserver-<hash>')) as unknown;
  },
};
