// Label selectors (full grammar) and field selectors, with the reference's error texts.
import { type Steps, createStride, finishSteps, int64Range, readInteger, sortSteps } from '../base/index.ts';
import { type FieldError, badRequest } from './status.ts';
import { invalidValue } from './field-error.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** A conjunction of requirements; the empty one matches everything. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
}

interface Token {
  readonly type: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

/** Tokens, requirements or terms that are handled between two pauses. */
const STRIDE = 500;
/** Errors of one requirement that are listed. */
const MAX_ERRORS = 1000;

function* scanLabels(text: string): Generator<Token, Token> {
  const pattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+))/y;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    yield match[1] !== undefined ? { type: 'symbol', text: match[1] } : { type: 'identifier', text: match[2] as string };
  }
  return { type: 'end', text: '' };
}

class LabelParser {
  readonly #tokens: Generator<Token, Token>;
  readonly #isDue = createStride(STRIDE);
  #ahead: Token;
  constructor(text: string) {
    this.#tokens = scanLabels(text);
    this.#ahead = this.#tokens.next().value;
  }
  peek(): Token {
    return this.#ahead;
  }
  next(): Token {
    const token = this.#ahead;
    if (token.type !== 'end') this.#ahead = this.#tokens.next().value;
    return token;
  }
  peekIs(text: string): boolean {
    return this.peek().type === 'symbol' && this.peek().text === text;
  }

  *parse(): Steps<LabelRequirement[]> {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      if (this.#isDue()) yield;
      const token = this.peek();
      if (token.type === 'end') return requirements;
      if (token.type === 'symbol' && token.text !== '!') throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(yield* this.parseRequirement());
      const separator = this.next();
      if (separator.type === 'end') return requirements;
      if (separator.text !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.peek();
      if (after.type !== 'identifier' && !this.peekIs('!')) throw badRequest(`found '${after.text}', expected: identifier after ','`);
    }
  }

  *parseRequirement(): Steps<LabelRequirement> {
    const negated = this.peekIs('!');
    if (negated) this.next();
    const key = this.next();
    if (key.type !== 'identifier') throw refuse(`found '${key.text}', expected: identifier`);
    checkProblems('<nil>', key.text, checkQualifiedName(key.text));
    if (negated) return { key: key.text, operator: '!', values: [] };
    if (this.peek().type === 'end' || this.peekIs(',')) return { key: key.text, operator: 'exists', values: [] };
    const operator = this.parseOperator();
    const values = operator === 'in' || operator === 'notin' ? yield* this.parseValues() : [this.parseExactValue()];
    yield* checkValues(key.text, operator, values);
    return { key: key.text, operator, values };
  }

  parseOperator(): Operator {
    const { text } = this.next();
    if (text === '>') return 'gt';
    if (text === '<') return 'lt';
    if (text === 'in' || text === 'notin' || text === '=' || text === '==' || text === '!=') return text;
    throw refuse(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  *parseValues(): Steps<string[]> {
    const open = this.next();
    if (open.text !== '(') throw refuse(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    let [isFirst, valueMayFollow] = [true, true];
    for (;;) {
      if (this.#isDue()) yield;
      const token = this.next();
      const isSymbol = token.type === 'symbol';
      if (token.type === 'identifier' && valueMayFollow) values.add(token.text);
      else if (isSymbol && (token.text === ',' || token.text === ')')) {
        if (valueMayFollow) values.add('');
        if (token.text === ')') return yield* sortSteps([...values]);
      } else throw refuse(`found '${token.text}', expected: ${isFirst ? "',', ')' or identifier" : valueMayFollow ? "',', or identifier" : "',' or ')'"}`);
      valueMayFollow = token.text === ',' && isSymbol;
      isFirst = false;
    }
  }

  parseExactValue(): string {
    if (this.peek().type === 'end' || this.peekIs(',')) return '';
    const token = this.next();
    if (token.type !== 'identifier') throw refuse(`found '${token.text}', expected: identifier`);
    return token.text;
  }
}

const refuse = (why: string) => badRequest(`unable to parse requirement: ${why}`);

function checkProblems(path: string, value: string, problems: readonly string[]): void {
  if (problems.length > 0) throw refuse(describe([invalidValue(path, value, problems.join('; '))]));
}

function describe(errors: readonly FieldError[]): string {
  const texts = errors.map((e) => `${e.field}: ${e.message}`);
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}

const isInt64 = (text: string): boolean => typeof readInteger(text, int64Range) === 'bigint';

function* checkValues(key: string, operator: Operator, values: readonly string[]): Steps<void> {
  const errors: FieldError[] = [];
  const isDue = createStride(STRIDE);
  for (const [i, value] of values.entries()) {
    if (errors.length >= MAX_ERRORS) break;
    if (isDue()) yield;
    if ((operator === 'gt' || operator === 'lt') && !isInt64(value)) {
      errors.push(invalidValue(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
    const problems = checkLabelValue(value);
    if (problems.length > 0) errors.push(invalidValue(`values[${i}][${key}]`, value, problems.join('; ')));
  }
  if (errors.length > 0) throw refuse(describe(errors));
}

/** Whether one requirement holds for a set of labels. */
export function matchesRequirement({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const has = Object.hasOwn(labels, key);
  const value = has ? (labels[key] as string) : '';
  switch (operator) {
    case 'exists': return has;
    case '!': return !has;
    case 'notin': case '!=': return !has || !values.includes(value);
    case 'gt': return has && isInt64(value) && BigInt(value) > BigInt(values[0] as string);
    case 'lt': return has && isInt64(value) && BigInt(value) < BigInt(values[0] as string);
    default: return has && values.includes(value);
  }
}

const noLabels: Readonly<Record<string, string>> = {};

/** With more requirements the labels of an object are looked up among them, and not they among its labels. */
const FEW_REQUIREMENTS = 8;

/** Builds a selector of requirements that are known to be valid. An object takes time by its labels, however many requirements there are. */
export function createLabelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  return finishSteps(buildLabelSelector(requirements));
}

function* buildLabelSelector(requirements: readonly LabelRequirement[]): Steps<LabelSelector> {
  if (requirements.length <= FEW_REQUIREMENTS) {
    return { requirements, matches: (labels) => requirements.every((r) => matchesRequirement(r, labels ?? noLabels)) };
  }
  const byKey = yield* gatherByKey(requirements);
  let wanted = 0;
  for (const { isWanted } of byKey.values()) if (isWanted) wanted += 1;
  return {
    requirements,
    matches(labels = noLabels) {
      let found = 0;
      for (const key of Object.keys(labels)) {
        const gathered = byKey.get(key);
        if (gathered === undefined) continue;
        if (!holds(gathered, labels[key] as string)) return false;
        if (gathered.isWanted) found += 1;
      }
      return found === wanted;
    },
  };
}

/** All requirements on one label. */
interface GatheredRequirements {
  /** The label must be there. */
  isWanted: boolean;
  isRefused: boolean;
  allowed: ReadonlySet<string> | undefined;
  refused: Set<string> | undefined;
  /** Those that compare numbers. */
  comparisons: LabelRequirement[] | undefined;
}

function* gatherByKey(requirements: readonly LabelRequirement[]): Steps<Map<string, GatheredRequirements>> {
  const byKey = new Map<string, GatheredRequirements>();
  const isDue = createStride(STRIDE);
  for (const requirement of requirements) {
    if (isDue()) yield;
    const { key, operator, values } = requirement;
    let gathered = byKey.get(key);
    if (gathered === undefined) {
      gathered = { isWanted: false, isRefused: false, allowed: undefined, refused: undefined, comparisons: undefined };
      byKey.set(key, gathered);
    }
    const { allowed } = gathered;
    gathered.isWanted ||= operator !== '!' && operator !== 'notin' && operator !== '!=';
    if (operator === '!') gathered.isRefused = true;
    else if (operator === 'notin' || operator === '!=') gathered.refused = addAll(gathered.refused, values);
    else if (operator === 'gt' || operator === 'lt') keepTightest(gathered.comparisons ??= [], requirement);
    else if (operator !== 'exists') gathered.allowed = new Set(allowed === undefined ? values : values.filter((value) => allowed.has(value)));
  }
  return byKey;
}

function addAll(set: Set<string> | undefined, values: readonly string[]): Set<string> {
  if (set === undefined) return new Set(values);
  for (const value of values) set.add(value);
  return set;
}

/** Keeps one comparison of each operator: the one that fewest numbers pass. */
function keepTightest(comparisons: LabelRequirement[], requirement: LabelRequirement): void {
  const at = comparisons.findIndex(({ operator }) => operator === requirement.operator);
  if (at === -1) return void comparisons.push(requirement);
  const [kept, limit] = [BigInt(comparisons[at]?.values[0] ?? 0), BigInt(requirement.values[0] ?? 0)];
  if (requirement.operator === 'gt' ? limit > kept : limit < kept) comparisons[at] = requirement;
}

function holds({ isRefused, allowed, refused, comparisons }: GatheredRequirements, value: string): boolean {
  if (isRefused || refused?.has(value) === true || allowed?.has(value) === false) return false;
  return comparisons === undefined || comparisons.every(({ operator, values }) => isInt64(value)
    && (operator === 'gt' ? BigInt(value) > BigInt(values[0] as string) : BigInt(value) < BigInt(values[0] as string)));
}

/** Reads `a=b,c in (d,e),!f`; throws a 400 StatusError with the reference's text. */
export function parseLabelSelector(text: string): LabelSelector {
  return finishSteps(parseLabelSelectorSteps(text));
}

/** The same in steps, for a text that may be long. */
export function* parseLabelSelectorSteps(text: string): Steps<LabelSelector> {
  return yield* buildLabelSelector(yield* new LabelParser(text).parse());
}

/** One condition on one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** A conjunction of field requirements; the empty one matches everything. */
interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
}

/** Cuts at unescaped commas; empty terms are left out. */
function* splitTerms(text: string): Generator<string> {
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (text[i] === '\\') i++;
    else if (i === text.length || text[i] === ',') {
      if (i > start) yield text.slice(start, i);
      start = i + 1;
    }
  }
  if (start < text.length) yield text.slice(start);
}

function splitTerm(term: string): [string, '=' | '!=', string] | undefined {
  for (let i = 0; i < term.length; i++) {
    if (term[i] === '\\') i++;
    else if (term.startsWith('!=', i)) return [term.slice(0, i), '!=', term.slice(i + 2)];
    else if (term.startsWith('==', i)) return [term.slice(0, i), '=', term.slice(i + 2)];
    else if (term[i] === '=') return [term.slice(0, i), '=', term.slice(i + 1)];
  }
  return undefined;
}

function unescapeValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  let text = '';
  for (let i = 0; i < value.length; i++) {
    const c = value[i] as string;
    if (c === ',' || c === '=') throw badRequest(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`);
    if (c !== '\\') { text += c; continue; }
    const escaped = value[++i] ?? '';
    if (!['\\', ',', '='].includes(escaped)) throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
    text += escaped;
  }
  return text;
}

/** Reads `a=b,c!=d`; throws a 400 StatusError. Whether a field may be selected on is the registry's question. */
export function parseFieldSelector(text: string): FieldSelector {
  return finishSteps(parseFieldSelectorSteps(text));
}

/** The same in steps, for a text that may be long. */
export function* parseFieldSelectorSteps(text: string): Steps<FieldSelector> {
  const requirements: FieldRequirement[] = [];
  const isDue = createStride(STRIDE);
  for (const term of splitTerms(text)) {
    if (isDue()) yield;
    const split = splitTerm(term);
    if (split === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const value = unescapeValue(split[2]);
    // Upstream drops terms without a field and a value.
    if (split[0] !== '' || value !== '') requirements.push({ field: split[0], operator: split[1], value });
  }
  return { requirements };
}

/** Reads metav1.LabelSelector (of a workload's spec); undefined selects nothing, an empty one everything. */
export function labelSelectorOf(selector: MetaLabelSelector | undefined | null): LabelSelector | undefined {
  if (selector === undefined || selector === null) return undefined;
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] }));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const found = metaOperators.get(operator);
    if (found !== undefined) requirements.push({ key, operator: found, values: values ?? [] });
  }
  return createLabelSelector(requirements);
}

const metaOperators = new Map<string, Operator>([['In', 'in'], ['NotIn', 'notin'], ['Exists', 'exists'], ['DoesNotExist', '!']]);

/** metav1.LabelSelector as JSON. */
export interface MetaLabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** The text form: requirements sorted by key, `=` for equality, as `Scale.status.selector` and describe print it. */
export function formatLabelSelector(selector: LabelSelector): string {
  const text = ({ key, operator, values }: LabelRequirement): string => {
    if (operator === 'exists') return key;
    if (operator === '!') return `!${key}`;
    if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${[...values].sort().join(',')})`;
    return `${key}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${values[0]}`;
  };
  return [...selector.requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(text).join(',');
}

