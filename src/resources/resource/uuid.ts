// Validation of UUIDs, which identify shares of one device.
import { byteLength, invalidValue } from '../../apimachinery/index.ts';
import type { Errors, Field } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

const UUID_LENGTH = 36;
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const URN = 'urn:uuid:';

/** The problem of a text that is not a UUID in any accepted form; undefined when it is one. */
function findUuidProblem(text: string): string | undefined {
  const format = (isRight: boolean): string | undefined => (isRight ? undefined : 'invalid UUID format');
  switch (byteLength(text)) {
    case UUID_LENGTH: return format(uuidPattern.test(text));
    case UUID_LENGTH + URN.length: {
      const prefix = text.slice(0, URN.length);
      return prefix.toLowerCase() === URN ? format(uuidPattern.test(text.slice(URN.length))) : `invalid urn prefix: ${JSON.stringify(prefix)}`;
    }
    case UUID_LENGTH + 2:
      return text.startsWith('{') && text.endsWith('}') ? format(uuidPattern.test(text.slice(1, -1))) : 'invalid bracketed UUID format';
    case UUID_LENGTH - 4: return format(/^[0-9a-f]{32}$/i.test(text));
    default: return `invalid UUID length: ${byteLength(text)}`;
  }
}

/** The value must be a UUID in its canonical form. */
export function checkUuid({ path, value }: Field): Errors {
  const text = toText(value);
  const problem = findUuidProblem(text);
  if (problem !== undefined) return [invalidValue(path, text, `error validating uid: ${problem}`)];
  if (text.length === UUID_LENGTH && text === text.toLowerCase()) return [];
  return [invalidValue(path, text, 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters')];
}
