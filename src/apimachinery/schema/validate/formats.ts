// String formats of OpenAPI as kube-openapi's strfmt checks them; formats that are not listed here are never checked.
import { checkDnsLabel, checkDnsSubdomain } from '../../names.ts';

type Check = (text: string) => boolean;

const byPattern = (pattern: RegExp): Check => (text) => pattern.test(text);

const MAX_TEXT_LENGTH = 4096;

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (!text.includes(':') || text.length > 45 || text.includes('%')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  let count = 0;
  for (const [index, half] of halves.entries()) {
    const groups = half === '' ? [] : half.split(':');
    for (const [at, group] of groups.entries()) {
      const isLast = index === halves.length - 1 && at === groups.length - 1;
      if (isLast && group.includes('.')) {
        if (!isIpv4(group)) return false;
        count += 2;
      } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) count += 1;
      else return false;
    }
  }
  return halves.length === 2 ? count < 8 : count === 8;
}

function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return false;
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

function isDateTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):?(\d{2}))$/.exec(text);
  if (match === null || !isDate(match[1] as string)) return false;
  const [hours, minutes, seconds] = match.slice(2, 5).map(Number) as [number, number, number];
  return hours <= 23 && minutes <= 59 && seconds <= 59;
}

const units: ReadonlySet<string> = new Set(['ns', 'us', '\u00b5s', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const spelledUnits = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];
const isUnit = (text: string): boolean => units.has(text) || spelledUnits.some((unit) => text.startsWith(unit));
const MAX_AMOUNT = 2n ** 63n - 1n;
const MAX_AMOUNT_DIGITS = 19;

/** Go's durations (`1h30m`), and texts that have an amount with a unit somewhere (`3 days`, `P1D`). */
function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/.test(text)) return true;
  let [amount, isFound] = ['', false];
  for (const [part] of text.matchAll(/\d+|[\t\n\f\r ]+|[A-Za-z\u00b5]+|[^]/g)) {
    if (/^\d/.test(part)) {
      amount = part;
      continue;
    }
    if (/^[\t\n\f\r ]/.test(part)) continue;
    if (amount !== '' && /^[A-Za-z\u00b5]/.test(part)) {
      const digits = amount.replace(/^0+/, '');
      if (digits.length > MAX_AMOUNT_DIGITS || BigInt(digits) > MAX_AMOUNT) return false;
      isFound ||= isUnit(part.toLowerCase());
    }
    amount = '';
  }
  return isFound;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function isUri(text: string): boolean {
  if (text === '' || /[\s\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text.startsWith('/') || /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(text);
}

/** An address, or one in angle brackets behind the name of its owner. */
function isEmail(text: string): boolean {
  const named = /^(?:[^@<>(),;:\\"[\]]|"[^"\\]*")*<([^<>]+)>\s*$/.exec(text);
  return isAddress((named?.[1] ?? text).trim());
}

function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && at < text.length - 1
    && /^[^\s@<>(),;:\\"[\]]+$/.test(text.slice(0, at)) && !text.slice(0, at).includes('..') && isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  if (text.length > 255 || text === '') return false;
  return text.split('.').every((part) => /^[a-zA-Z0-9\u00a1-\uffff](?:[a-zA-Z0-9\u00a1-\uffff-]{0,61}[a-zA-Z0-9\u00a1-\uffff])?$/.test(part));
}

function isMac(text: string): boolean {
  if (/^(?:[0-9a-fA-F]{4}\.)+[0-9a-fA-F]{4}$/.test(text)) return [3, 4, 10].includes(text.split('.').length);
  const separator = text.includes(':') ? ':' : '-';
  const parts = text.split(separator);
  return [6, 8, 20].includes(parts.length) && parts.every((part) => /^[0-9a-fA-F]{2}$/.test(part));
}

function checksIsbn10(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (10 - i) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function checksIsbn13(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

function isIsbn(text: string, length?: 10 | 13): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (length !== 13 && /^\d{9}[\dX]$/.test(digits) && checksIsbn10(digits)) return true;
  return length !== 10 && /^\d{13}$/.test(digits) && checksIsbn13(digits);
}

const cardNumbers = new RegExp(
  '^(?:4\\d{12}(?:\\d{3})?|5[1-5]\\d{14}|(?:222[1-9]|22[3-9]\\d|2[3-6]\\d\\d|27[01]\\d|2720)\\d{12}|6(?:011|5\\d\\d)\\d{12}|3[47]\\d{13}|' +
  '3(?:0[0-5]|[68]\\d)\\d{11}|(?:2131|1800|35\\d{3})\\d{11}|6[27]\\d{14})$');

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, '');
  if (!cardNumbers.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}

function isRgb(text: string): boolean {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return match !== null && match.slice(1).every((part) => Number(part) <= 255);
}

function uuid(version: string): Check {
  const variant = version === '4' || version === '5' ? '89ab' : '0-9a-f';
  return byPattern(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[${variant}][0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'));
}

const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: byPattern(/^[0-9a-fA-F]{24}$/), uri: isUri, email: isEmail, hostname: isHostname, ipv4: isIpv4, ipv6: isIpv6, cidr: isCidr, mac: isMac,
  uuid: uuid('[0-9a-f]'), uuid3: uuid('3'), uuid4: uuid('4'), uuid5: uuid('5'), isbn: (text) => isIsbn(text), isbn10: (text) => isIsbn(text, 10),
  isbn13: (text) => isIsbn(text, 13), creditcard: isCreditCard, ssn: byPattern(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: byPattern(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/), rgbcolor: isRgb, byte: isBase64, password: () => true, date: isDate,
  duration: isDuration, datetime: isDateTime, k8sshortname: (text) => checkDnsLabel(text).length === 0, k8slongname: (text) =>
    checkDnsSubdomain(text).length === 0,
};

/** The formats of numbers; other types but texts have none. */
const formatsOfNumbers: Readonly<Record<string, readonly string[]>> = { integer: ['int32', 'int64'], number: ['float', 'double'] };

const normalize = (format: string): string => format.replaceAll('-', '');

/** Whether texts may be of a format. */
export const isTextFormat = (format: string): boolean => Object.hasOwn(checks, normalize(format));

/** Whether a format means something for values of a type, the only one that a schema names; others are ignored. */
export function isKnownFormat(type: string | undefined, format: string): boolean {
  return type === undefined || type === '' || type === 'string' ? isTextFormat(format) : formatsOfNumbers[type]?.includes(format) === true;
}

/** Whether a string is of a format; true for formats that say nothing about strings. */
export function matchesFormat(format: string, text: string): boolean {
  const name = normalize(format);
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
  // Nothing that has a format is this long, except what may be anything.
  if (text.length > MAX_TEXT_LENGTH && name !== 'byte' && name !== 'password' && name !== 'uri') return check === undefined;
  return check === undefined || check(text);
}
