// Attacks on the console's logins and sessions: floods of tokens and codes that are none, thousands of sessions of one user, cookies of 60 KB.
import { type Attack, type AttackAnswer, type AttackRequest, CONFIG_MAPS, type Victim, describe, send } from './attack.ts';
import { numbered, sendAll } from './floods.ts';

const SESSION = '/console/session';
const login = (token: string | null, body: unknown = {}): AttackRequest => ({ method: 'POST', path: SESSION, token, body });

interface Begun {
  readonly key: string;
  readonly cookie: string;
}

async function begin(victim: Victim, token: string): Promise<Begun | undefined> {
  const { status, text, headers } = await send(victim, login(token));
  if (status !== 201) return undefined;
  return { key: (JSON.parse(text) as { key: string }).key, cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
}

const use = ({ key, cookie }: Begun, path = CONFIG_MAPS): AttackRequest => ({ path, token: null, headers: { 'x-pintle-console': key, cookie } });

/** Statuses that are the only ones of an answer to `sendAll`. */
const hasOnly = (statuses: string, allowed: readonly string[]): boolean =>
  Object.keys(JSON.parse(statuses) as object).every((one) => allowed.includes(one));

const wrongLogins: Attack = {
  number: '69', name: '5,000 logins with tokens and codes that are none',
  async run(victim) {
    const statuses = await sendAll(victim, numbered(5000, (index) => [
      login(`none-${index}`), login(null, { code: `none-${index}` }), login(null, 'x'.repeat(4000)), login(null, { code: 'a', state: 'b'.repeat(3000) }),
      { method: 'POST', path: '/console/codes', token: `none-${index}` }][index % 5] as AttackRequest));
    const begun = await begin(victim, 'alice-token');
    const holds = hasOnly(statuses, ['401', '413', '429']) && begun !== undefined;
    return { holds, answer: `${statuses}, then ${begun === undefined ? 'NO LOGIN' : 'a login'}` };
  },
};

/** A user's own sessions and codes push out that user's oldest, and none of others. */
const manySessions: Attack = {
  number: '69', name: '5,000 sessions and codes of one user',
  async run(victim) {
    const other = await begin(victim, 'bob-token');
    const first = await begin(victim, 'alice-token');
    const statuses = await sendAll(victim, numbered(5000, (index) => (index % 2 === 0 ? login('alice-token') : { method: 'POST', path: '/console/codes' })));
    const last = await begin(victim, 'alice-token');
    if (other === undefined || first === undefined || last === undefined) return { holds: false, answer: `${statuses}, and NO LOGIN` };
    const answers: AttackAnswer[] = [];
    for (const one of [first, last]) answers.push(await send(victim, use(one)));
    answers.push(await send(victim, use(other, '/api/v1/namespaces/bob/configmaps')));
    const [old, recent, bobs] = answers.map(({ status }) => status);
    return { holds: hasOnly(statuses, ['201', '429']) && old === 401 && recent === 200 && bobs === 200,
      answer: `${statuses}, the first is ${old}, the last ${recent}, that of another user ${bobs}` };
  },
};

const hugeCookies: Attack = {
  number: '69', name: '500 requests with cookies of 60 KB',
  async run(victim) {
    const session = await begin(victim, 'alice-token');
    if (session === undefined) return { holds: false, answer: 'NO LOGIN' };
    const parts = [';'.repeat(60_000), 'a=b;'.repeat(15_000), `${session.cookie.split('=')[0]}=x; `.repeat(1500), '='.repeat(60_000)];
    const statuses = await sendAll(victim, numbered(500, (index) => use({ key: session.key, cookie: parts[index % 4] as string })));
    const answer = await send(victim, use(session));
    return { holds: hasOnly(statuses, ['401', '429', '431']) && answer.status === 200, answer: `${statuses}, then ${describe(answer)}` };
  },
};

/** The sessions of the console. */
export const consoleAttacks: readonly Attack[] = [wrongLogins, manySessions, hugeCookies];
