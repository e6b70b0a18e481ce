// From an answer of the server to findings: each with the field that it is about, where the Status names one.
import type { ApiResponse } from '../../client/index.ts';
import type { Finding, Rule } from './verdict.ts';

interface FieldProblem {
  readonly field: string;
  readonly text: string;
}

interface Cause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}
interface StatusBody {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly Cause[]; readonly kind?: string };
}

/** The findings of an answer: its warnings, and why it is a refusal. */
export function findProblems({ status, headers, text, body }: ApiResponse): Finding[] {
  const warnings = readWarnings(headers['warning'] ?? '').map(describeWarning);
  return status < 400 ? warnings : [...warnings, ...explainRefusal(status, (body ?? { message: text }) as StatusBody)];
}

/** The texts of a Warning header: `299 - "text", 299 - "text"`. */
function readWarnings(header: string): string[] {
  const texts: string[] = [];
  for (let start = header.indexOf('"'); start >= 0;) {
    let text = '';
    let at = start + 1;
    for (; at < header.length && header[at] !== '"'; at++) {
      if (header[at] === '\\') at++;
      text += header[at] ?? '';
    }
    texts.push(text);
    start = header.indexOf('"', at + 1);
  }
  return texts;
}

function describeWarning(message: string): Finding {
  const unknown = /^unknown field "([^"]+)"/.exec(message)?.[1];
  if (unknown !== undefined) return { level: 'warning', rule: 'schema', message, field: unknown };
  const field = /^([a-z]\w*(?:[.[][^\s:]*)?): /.exec(message)?.[1] ?? '';
  return { level: 'warning', rule: /\bdeprecated\b/.test(message) ? 'deprecated' : 'warning', message, field };
}

function explainRefusal(code: number, { message = `the server answered ${code}`, reason = '', details }: StatusBody): Finding[] {
  const error = (rule: Rule, text: string, field = ''): Finding => ({ level: 'error', rule, message: text, field });
  const typed = findTypedProblems(message);
  if (typed.length > 0) return typed.map(({ field, text }) => error('schema', text, field));
  const strict = findStrictProblems(message);
  if (strict.length > 0) return strict.map(({ field, text }) => error('schema', text, field));
  const rule = classify(code, reason, message);
  const causes = details?.causes ?? [];
  if (rule === 'conflict' && causes.length > 0) return causes.map((cause) => error(rule, cause.message ?? message, trimDot(cause.field)));
  if (rule === 'invalid' && causes.length > 0) return causes.map((cause) => error(rule, cause.message ?? message, trimDot(cause.field)));
  return [error(rule, message, trimDot(causes.length === 1 ? causes[0]?.field : ''))];
}

const trimDot = (field = ''): string => (field === '<nil>' ? '' : field.replace(/^\./, ''));

/** The lines `.path: text` of an apply whose types do not fit. */
function findTypedProblems(message: string): FieldProblem[] {
  const start = message.indexOf('failed to create typed ');
  const end = start < 0 ? -1 : message.indexOf('): ', start);
  if (end < 0) return [];
  return message.slice(end + 3).split('\n').map((line) => line.trim()).flatMap((line) => {
    const colon = line.indexOf(': ');
    return line.startsWith('.') && colon > 0 ? [{ field: line.slice(1, colon), text: line.slice(colon + 2) }] : [];
  });
}

/** The parts of `strict decoding error: unknown field "a", duplicate field "b"`. */
function findStrictProblems(message: string): FieldProblem[] {
  const words = 'strict decoding error: ';
  const start = message.indexOf(words);
  if (start < 0) return [];
  return message.slice(start + words.length).split(', ').flatMap((text) => {
    const field = /^(?:unknown|duplicate) field "([^"]*)"$/.exec(text)?.[1];
    return field === undefined ? [] : [{ field, text }];
  });
}

function classify(code: number, reason: string, message: string): Rule {
  if (/AdmissionPolicy '/.test(message)) return 'policy';
  if (code === 409 && reason === 'Conflict') return 'conflict';
  if (code === 403) {
    if (message.includes('exceeded quota')) return 'quota';
    if (message.includes('violates PodSecurity')) return 'pod-security';
    if (message.includes(': User "') && message.includes('" cannot ')) return 'rbac';
  }
  if (code === 404 && message.startsWith('namespaces "')) return 'missing-namespace';
  return reason === 'Invalid' ? 'invalid' : 'refused';
}
