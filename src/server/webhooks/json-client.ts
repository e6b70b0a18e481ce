// JSON over HTTPS from other servers: discovery documents, key sets, answers of webhooks. Redirects are not followed, and what is slow, large or
// not JSON fails. There is no TLS where the address says http.
import type { Clock } from '../../base/index.ts';
import { keptOptions, trustOnly } from './agent-pool.ts';
import { type Dial, createAgent, createPlainAgent } from './dial.ts';
import { type HttpAnswer, type MeasureCall, callWithin, hostOf } from './http-call.ts';
import { describeAnswer, describeConnection } from './describe-failure.ts';
import { parseAnswer } from './read-answer.ts';

/** How other servers are met. */
export interface JsonTrust {
  /** PEM of the authorities; absent: those of the system. */
  readonly authorities?: string | undefined;
  readonly certificate?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Opens its connections; absent: as usual. */
  readonly dial?: Dial | undefined;
  readonly measure?: MeasureCall | undefined;
}

const LIMIT_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 10_000;

/** An answer that is no success, in client-go's words. */
class AnswerError extends Error {
  constructor({ status, headers, body }: HttpAnswer) {
    super(describeAnswer({ status, contentType: headers['content-type'] ?? '', body }).message);
  }
}

/** Why a call failed, as client-go words it; errors that are no failures of a connection stay as they are. */
function describeCall(url: string, error: Error): string {
  return error instanceof AnswerError || error instanceof NoJsonError ? error.message : `Post ${JSON.stringify(url)}: ${describeConnection(error)}`;
}

class NoJsonError extends Error {}

/** Asks other servers, over connections that are kept until they are not used for a while. */
export class JsonClient {
  readonly #clock: Clock;
  readonly #headers: JsonTrust['headers'];
  readonly #measure: MeasureCall | undefined;
  readonly #agent: ReturnType<typeof createAgent>;
  readonly #plainAgent: ReturnType<typeof createPlainAgent>;

  constructor(clock: Clock, { authorities, certificate, key, headers, dial, measure }: JsonTrust) {
    this.#clock = clock;
    this.#headers = headers;
    this.#measure = measure;
    this.#plainAgent = createPlainAgent(keptOptions, dial);
    this.#agent = createAgent({
      ...keptOptions, ...(authorities !== undefined && trustOnly(authorities)), ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
    }, { dial });
  }

  /** Answers the body of a 2xx answer as text. Headers that are given replace those of the same names. */
  async getText(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    return (await this.#call(url, undefined, DEFAULT_TIMEOUT_MS, headers)).body.toString();
  }

  /** Sends JSON and answers the parsed body of a 2xx answer. */
  async post(url: string, body: unknown, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<unknown> {
    return parse(await this.#call(url, JSON.stringify(body), timeoutMs));
  }

  /** The same; a failure is worded as client-go words it. */
  async ask(url: string, body: unknown, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<unknown> {
    return this.post(url, body, timeoutMs).catch((error: Error) => {
      throw new Error(describeCall(url, error), { cause: error });
    });
  }

  /** Sends the fields of a form and answers the parsed body of a 2xx answer. */
  async postForm(url: string, form: URLSearchParams, headers: Readonly<Record<string, string>>): Promise<unknown> {
    const more = { 'content-type': 'application/x-www-form-urlencoded', ...headers };
    return parse(await this.#call(url, form.toString(), DEFAULT_TIMEOUT_MS, more));
  }

  /** Sends text that is JSON already and asks for nothing but a 2xx answer. */
  async send(url: string, json: string, timeoutMs: number): Promise<void> {
    await this.#call(url, json, timeoutMs);
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy();
    this.#plainAgent.destroy();
  }

  async #call(url: string, text: string | undefined, timeoutMs: number, more: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    const parsed = new URL(url);
    const body = text === undefined ? undefined : Buffer.from(text);
    const headers = { host: parsed.host, accept: 'application/json', ...this.#headers, ...more };
    const answer = await callWithin({
      ...hostOf(parsed), method: body === undefined ? 'GET' : 'POST', path: `${parsed.pathname}${parsed.search}`, headers, body,
      agent: parsed.protocol === 'http:' ? this.#plainAgent : this.#agent, measure: this.#measure,
    }, { clock: this.#clock, timeoutMs, limitBytes: LIMIT_BYTES });
    if (answer.status < 200 || answer.status > 299) throw new AnswerError(answer);
    return answer;
  }
}

function parse({ body }: HttpAnswer): unknown {
  try {
    return parseAnswer(body);
  } catch {
    throw new NoJsonError('the answer is not JSON');
  }
}
