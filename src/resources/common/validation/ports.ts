// Port numbers and port names.
import { byteLength, invalidValue } from '../../../apimachinery/index.ts';
import { toNumber } from '../values.ts';
import { type Errors, type Field, checkText, none } from './check.ts';

/** A required port number in range. */
export function checkPortNumber({ path, value }: Field): Errors {
  const port = toNumber(value);
  return port < 1 || port > 65_535 ? [invalidValue(path, port, 'must be between 1 and 65535, inclusive')] : none;
}

/** Problems of a port name (an IANA service name). */
export function checkPortName(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** A port by number or name. */
export function checkPort(place: Field): Errors {
  if (typeof place.value !== 'string') return checkPortNumber(place);
  return checkText(place, checkPortName);
}
