// Rules for names, labels and keys, with the texts of upstream's validation. Expressions are anchored and linear; lengths count bytes.

/** Which rule a kind's metadata.name follows. */
export type NameRule = 'dns-subdomain' | 'long-name' | 'dns-label' | 'dns-1035-label' | 'path-segment' | 'any';

const LABEL_1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_1123 = `${LABEL_1123}(\\.${LABEL_1123})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED})?`;
const WILDCARD_SUBDOMAIN = `\\*\\.${SUBDOMAIN_1123}`;

const label1123Pattern = new RegExp(`^${LABEL_1123}$`);
const label1035Pattern = new RegExp(`^${LABEL_1035}$`);
const qualifiedPattern = new RegExp(`^${QUALIFIED}$`);
const labelValuePattern = new RegExp(`^${LABEL_VALUE}$`);

const encoder = new TextEncoder();
/** Length in UTF-8 bytes, as Go's len. */
export const byteLength = (text: string): number => (isAscii(text) ? text.length : encoder.encode(text).length);
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

const regexText = (message: string, pattern: string, ...examples: string[]): string => {
  const shown = examples.map((e, i) => (i === 0 ? `'${e}'` : ` or '${e}'`)).join(', ');
  return `${message} (e.g. ${shown}, regex used for validation is '${pattern}')`;
};

const SUBDOMAIN_TEXT = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1123_TEXT = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const LABEL_1035_TEXT = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED_TEXT = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;
const WILDCARD_TEXT = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";

const maxLength = (max: number): string => `must be no more than ${max} characters`;

/** Labels that are empty, or begin or end with a hyphen, and characters that none has: an expression of whole labels would backtrack. */
const notSubdomainPattern = /^$|^[-.]|[-.]$|\.[-.]|-\.|[^-a-z0-9.]/;

const isSubdomain = (text: string): boolean => !notSubdomainPattern.test(text);

/** Problems of a DNS-1123 subdomain (most object names); empty when it is one. */
export function checkDnsSubdomain(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 253) problems.push(maxLength(253));
  if (!isSubdomain(text)) problems.push(regexText(SUBDOMAIN_TEXT, SUBDOMAIN_1123, 'example.com'));
  return problems;
}

/** Problems of a DNS-1123 label (namespace names). */
export function checkDnsLabel(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 63) problems.push(maxLength(63));
  if (!label1123Pattern.test(text)) {
    problems.push(isSubdomain(text) ? 'must not contain dots' : regexText(LABEL_1123_TEXT, LABEL_1123, 'my-name', '123-abc'));
  }
  return problems;
}

/** Problems of a DNS-1035 label (service names). */
export function checkDns1035Label(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 63) problems.push(maxLength(63));
  if (!label1035Pattern.test(text)) problems.push(regexText(LABEL_1035_TEXT, LABEL_1035, 'my-name', 'abc-123'));
  return problems;
}

/** Problems of a wildcard DNS name (`*.example.com`). */
export function checkWildcardDnsSubdomain(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 253) problems.push(maxLength(253));
  if (!text.startsWith('*.') || !isSubdomain(text.slice(2))) problems.push(regexText(WILDCARD_TEXT, WILDCARD_SUBDOMAIN, '*.example.com'));
  return problems;
}

/** Problems of a name that need only be one segment of a path (RBAC kinds). `prefix`: the text will be continued (generateName). */
export function checkPathSegment(text: string, prefix = false): string[] {
  if (!prefix && (text === '.' || text === '..')) return [`may not be '${text}'`];
  return ['/', '%'].filter((c) => text.includes(c)).map((c) => `may not contain '${c}'`);
}

/** The words for a subdomain where upstream counts bytes in words too. */
const countBytes = (problem: string): string => problem.replace('253 characters', '253 bytes');

/** Problems of a name under a kind's rule. `prefix`: it is a generateName, whose end may be a dash. */
export function validateName(rule: NameRule, name: string, prefix = false): string[] {
  if (rule === 'any') return [];
  if (rule === 'path-segment') return checkPathSegment(name, prefix);
  const shown = prefix ? maskTrailingDash(name) : name;
  if (rule === 'dns-subdomain') return checkDnsSubdomain(shown);
  // Declared in the reference's types: what is generated from a prefix is checked, the prefix is not, and lengths are in bytes.
  if (rule === 'long-name') return prefix ? [] : checkDnsSubdomain(name).map(countBytes);
  return rule === 'dns-label' ? checkDnsLabel(shown) : checkDns1035Label(shown);
}

/** A prefix without its dash. The reference takes away the byte before it too: `A-` is a good prefix, though no name begins so. */
const maskTrailingDash = (name: string): string =>
  (name.length > 1 && name.endsWith('-') ? `${name.slice(0, name.charCodeAt(name.length - 2) < 128 ? -2 : -1)}a` : name);

/** Problems of a qualified name `[prefix/]name`: label keys, annotation keys, finalizers. */
export function checkQualifiedName(text: string): string[] {
  const problems: string[] = [];
  const parts = text.split('/');
  if (parts.length > 2) return [`a valid label key ${regexText(QUALIFIED_TEXT, QUALIFIED, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const name = parts.at(-1) as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...checkDnsSubdomain(prefix).map((problem) => `prefix part ${countBytes(problem)}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (byteLength(name) > 63) problems.push('name part must be no more than 63 bytes');
  if (!qualifiedPattern.test(name)) problems.push(`name part ${regexText(QUALIFIED_TEXT, QUALIFIED, 'MyName', 'my.name', '123-abc')}`);
  return problems;
}

/** Problems of a label value. */
export function checkLabelValue(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 63) problems.push('must be no more than 63 bytes');
  if (!labelValuePattern.test(text)) problems.push(regexText(LABEL_VALUE_TEXT, LABEL_VALUE, 'MyValue', 'my_value', '12345'));
  return problems;
}

/** Problems of an identifier of C. */
export function checkCIdentifier(text: string): string[] {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return [];
  const message = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
  return [regexText(message, '[A-Za-z_][A-Za-z0-9_]*', 'my_name', 'MY_NAME', 'MyName')];
}

/** Problems of a ConfigMap or Secret key. */
export function checkConfigMapKey(text: string): string[] {
  const problems: string[] = [];
  if (byteLength(text) > 253) problems.push(maxLength(253));
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) {
    problems.push(regexText("a valid config key must consist of alphanumeric characters, '-', '_' or '.'", '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME',
      'key-name'));
  }
  if (text === '.') problems.push("must not be '.'");
  else if (text === '..') problems.push("must not be '..'");
  else if (text.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}
