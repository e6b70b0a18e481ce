// Static tokens: the CSV of kube-apiserver's --token-auth-file, one `token,user,uid,"group1,group2"` per line.
// Tokens are kept and looked up by a keyed hash.
import type { Random } from '../../base/index.ts';
import { type User, markAuthenticated } from '../user.ts';
import type { AuthenticateToken, TokenAnswer } from './credentials.ts';
import { createTokenHash } from './token-hash.ts';

/** One line of the file. */
export interface StaticToken {
  readonly token: string;
  readonly user: User;
}

/** Makes an authenticator of a fixed list. */
export function createTokenAuthenticator(tokens: readonly StaticToken[], random: Random): AuthenticateToken {
  if (tokens.length === 0) return () => undefined;
  const hash = createTokenHash(random);
  const answerOf = (user: User): TokenAnswer => ({ type: 'user', user: markAuthenticated(user), lasting: true });
  const answers = new Map(tokens.map(({ token, user }) => [hash(token), answerOf(user)]));
  return (token) => answers.get(hash(token));
}

/** Reads the file's text. Throws an Error that names the line, never its content. */
export function parseTokenFile(text: string): StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    tokens.push(parseLine(line, index + 1));
  }
  return tokens;
}

function parseLine(line: string, number: number): StaticToken {
  const fields = splitCsv(line);
  if (fields === undefined) throw new Error(`line ${number} is not CSV: a quote is not closed`);
  const [token = '', name = '', uid = '', groups = ''] = fields;
  if (fields.length < 3) throw new Error(`line ${number} needs at least the three columns token, user name and uid`);
  if (token === '' || name === '') throw new Error(`line ${number} has an empty token or user name`);
  return { token, user: { name, ...(uid !== '' && { uid }), groups: groups === '' ? [] : groups.split(',').map((group) => group.trim()) } };
}

/** The fields of one CSV line; undefined when a quote stays open. */
function splitCsv(line: string): string[] | undefined {
  const fields: string[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y;
  for (;;) {
    const match = pattern.exec(line);
    if (match === null) return undefined;
    fields.push(match[1] === undefined ? (match[2] ?? '').trim() : match[1].replaceAll('""', '"'));
    if (match[3] === '') return fields;
  }
}
