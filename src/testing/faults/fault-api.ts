// `/debug/pintle/faults` of test servers: GET lists the faults, POST adds one, DELETE removes all or, with `/ID`, one. Administrators only; other
// servers do not have the path.
import { badRequest, failure } from '../../apimachinery/index.ts';
import { encodeJson, parseJson } from '../../codec/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../../server/index.ts';
import { type ActiveFault, type Fault, type Faults, findFaultProblem } from './fault.ts';

/** Where faults are added over HTTP. */
export const FAULTS_PATH = '/debug/pintle/faults';
const LIMIT_BYTES = 64 * 1024;

/** Whether a request is one for the faults. */
export const isFaultRequest = ({ path }: ServerExchange): boolean => path === FAULTS_PATH || path.startsWith(`${FAULTS_PATH}/`);

/** Answers such a request. */
export async function answerFaultRequest(exchange: ServerExchange, faults: Faults): Promise<Response> {
  if (!exchange.user.groups.includes('system:masters')) throw failure(403, 'Forbidden', 'faults are added by administrators only');
  const id = exchange.path.slice(FAULTS_PATH.length + 1);
  if (exchange.method === 'GET' && id === '') return answer(200, { faults: faults.list().map(show) });
  if (exchange.method === 'POST' && id === '') return answer(201, show(faults.add(await readFault(exchange))));
  if (exchange.method === 'DELETE') {
    const chosen = faults.list().filter((fault) => id === '' || String(fault.id) === id);
    if (id !== '' && chosen.length === 0) throw failure(404, 'NotFound', `there is no fault ${id}`);
    for (const fault of chosen) fault.remove();
    return answer(200, { removed: chosen.length });
  }
  throw failure(405, 'MethodNotAllowed', `${exchange.method} is not supported on ${exchange.path}`);
}

async function readFault(exchange: ServerExchange): Promise<Fault> {
  let fault: unknown;
  try {
    fault = parseJson(await exchange.readBody(LIMIT_BYTES)).value;
  } catch (error) {
    throw badRequest(`the body is no fault: ${(error as Error).message}`);
  }
  const problem = findFaultProblem(fault);
  if (problem !== undefined) throw badRequest(`the body is no fault: ${problem}`);
  return fault as Fault;
}

const show = ({ id, fault, hits }: ActiveFault): object => ({ id, hits, fault });
const answer = (status: number, value: object): Response => ({ status, headers: { 'content-type': 'application/json' }, body: encodeJson(value) });
