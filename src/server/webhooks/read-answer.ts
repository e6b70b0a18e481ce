// Answers of other servers, read whole: bounded in size, and in the depth of their JSON.
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../codec/index.ts';

/** The body of an answer; rejects with the error of the connection, or when it is larger than `limitBytes`. */
export function readAnswer(response: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) response.destroy(new Error(`the answer is larger than ${limitBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

/** What JSON of another server says, with plain numbers as JSON.parse reads them; throws where it is no JSON or nested too deep for this server. */
export function parseAnswer(body: Uint8Array): unknown {
  const { value } = parseJson(body);
  if (typeof value === 'bigint') return Number(value);
  roundNumbers(value);
  return value;
}

/** JSON.stringify refuses integers of any size. */
function roundNumbers(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (typeof member === 'bigint') members[key] = Number(member);
    else roundNumbers(member);
  }
}
