// The grammar of the language as ANTLR sees it: its rules, in the order of their alternatives, and its tokens, in the order in which messages list them.
// Rules that begin with themselves are written as ANTLR rewrites them: a start, and a loop of what may follow, each with its precedence.

/** The tokens as messages name them. Their place here is their type; the end of the text comes first. */
export const tokenNames = [
  '<EOF>', "'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'['", "']'", "'{'", "'}'", "'('", "')'", "'.'", "','", "'-'", "'!'", "'?'",
  "':'", "'+'", "'*'", "'/'", "'%'", "'true'", "'false'", "'null'", 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', 'ESC_IDENTIFIER',
] as const;

const types: ReadonlyMap<string, number> = new Map(tokenNames.map((name, type) => [name, type]));

/** The type of a token that is named as messages name it. */
export function typeOf(name: string): number {
  const type = types.get(name);
  if (type === undefined) throw new Error(`no token is named ${name}`);
  return type;
}

/** The type of the end of the text. */
export const END_TYPE = 0;

export type RuleName = 'start' | 'expr' | 'or' | 'and' | 'relation' | 'calc' | 'unary' | 'member' | 'primary' | 'exprList' | 'listInit' | 'fieldList'
  | 'optField' | 'mapList' | 'escapeIdent' | 'optExpr' | 'literal';

/** A token, one of several. */
export interface TokenElement { readonly type: 'token'; readonly tokens: readonly number[]; readonly label: string }
/** A rule, called with a precedence where it begins with itself. */
export interface RuleElement { readonly type: 'rule'; readonly rule: RuleName; readonly label: string; readonly precedence: number }
/** What may be left out, repeated, or one of several. */
export interface BlockElement {
  readonly type: 'block';
  readonly kind: 'choice' | 'optional' | 'star' | 'plus';
  readonly alternatives: readonly Alternative[];
  /** Decided by the next token; else by prediction. */
  readonly byToken: boolean;
  /** The loop of a rule that begins with itself. */
  readonly recursive: boolean;
}
export type Element = TokenElement | RuleElement | BlockElement;

/** One way through a block. */
export interface Alternative {
  /** What the node is where the way is taken; '' says nothing. */
  readonly name: string;
  readonly elements: readonly Element[];
  /** The highest precedence of the caller with which a rule that begins with itself may continue here; 0 where any is right. */
  readonly precedence: number;
}

const way = (name: string, elements: readonly Element[], precedence = 0): Alternative => ({ name, elements, precedence });
const token = (names: string, label = ''): TokenElement => ({ type: 'token', tokens: names.split(' ').map((name) => typeOf(name)), label });
const sign = (name: string, label = ''): TokenElement => token(`'${name}'`, label);
const rule = (name: RuleName, label: string = name, precedence = 0): RuleElement => ({ type: 'rule', rule: name, label, precedence });
const block = (kind: BlockElement['kind'], byToken: boolean, ...elements: readonly Element[]): BlockElement =>
  ({ type: 'block', kind, alternatives: [way('', elements)], byToken, recursive: false });
const choice = (byToken: boolean, ...alternatives: readonly Alternative[]): BlockElement =>
  ({ type: 'block', kind: 'choice', alternatives, byToken, recursive: false });
const optional = (...elements: readonly Element[]): BlockElement => block('optional', true, ...elements);
const star = (...elements: readonly Element[]): BlockElement => block('star', true, ...elements);
const predictedStar = (...elements: readonly Element[]): BlockElement => block('star', false, ...elements);
const suffixes = (...alternatives: readonly Alternative[]): BlockElement => ({ type: 'block', kind: 'star', alternatives, byToken: false, recursive: true });

// An element stands in one place, so that each use makes another.
const dot = (): BlockElement => optional(sign('.', 'leadingDot'));
const trailingComma = (): BlockElement => optional(sign(','));
const mark = (): BlockElement => optional(sign('?', 'opt'));
const args = (): BlockElement => optional(rule('exprList', 'args'));
const identifier = (label: string): TokenElement => token('IDENTIFIER', label);

/** The rules. */
export const rules: Readonly<Record<RuleName, readonly Element[]>> = {
  start: [rule('expr'), token('<EOF>')],
  expr: [rule('or', 'e'), optional(sign('?', 'op'), rule('or', 'e1'), sign(':'), rule('expr', 'e2'))],
  or: [rule('and', 'e'), star(sign('||', 'ops'), rule('and', 'e1'))],
  and: [rule('relation', 'e'), star(sign('&&', 'ops'), rule('relation', 'e1'))],
  relation: [rule('calc'), suffixes(way('relation', [token("'==' '!=' 'in' '<' '<=' '>=' '>'", 'op'), rule('relation', 'right', 2)], 1))],
  calc: [rule('unary'), suffixes(
    way('calc', [token("'*' '/' '%'", 'op'), rule('calc', 'right', 3)], 2), way('calc', [token("'-' '+'", 'op'), rule('calc', 'right', 2)], 1))],
  unary: [choice(false, way('memberExpr', [rule('member')]), way('logicalNot', [block('plus', true, sign('!', 'ops')), rule('member')]),
    way('negate', [block('plus', false, sign('-', 'ops')), rule('member')]))],
  member: [rule('primary'), suffixes(
    way('select', [sign('.', 'op'), mark(), rule('escapeIdent', 'id')], 3),
    way('memberCall', [sign('.', 'op'), identifier('id'), sign('(', 'open'), args(), sign(')')], 2),
    way('index', [sign('[', 'op'), mark(), rule('expr', 'index'), sign(']')], 1))],
  primary: [choice(false,
    way('ident', [dot(), identifier('id')]), way('globalCall', [dot(), identifier('id'), sign('(', 'op'), args(), sign(')')]),
    way('nested', [sign('('), rule('expr', 'e'), sign(')')]),
    way('createList', [sign('[', 'op'), optional(rule('listInit', 'elems')), trailingComma(), sign(']')]),
    way('createStruct', [sign('{', 'op'), optional(rule('mapList', 'entries')), trailingComma(), sign('}')]),
    way('createMessage', [
      dot(), identifier('ids'), star(sign('.'), identifier('ids')), sign('{', 'op'), optional(rule('fieldList', 'entries')), trailingComma(), sign('}')]),
    way('constant', [rule('literal')]))],
  exprList: [rule('expr', 'e'), star(sign(','), rule('expr', 'e'))],
  listInit: [rule('optExpr', 'elems'), predictedStar(sign(','), rule('optExpr', 'elems'))],
  fieldList: [rule('optField', 'fields'), sign(':', 'cols'), rule('expr', 'values'), predictedStar(
    sign(','), rule('optField', 'fields'), sign(':', 'cols'), rule('expr', 'values'))],
  optField: [mark(), rule('escapeIdent', 'id')],
  mapList: [rule('optExpr', 'keys'), sign(':', 'cols'), rule('expr', 'values'), predictedStar(
    sign(','), rule('optExpr', 'keys'), sign(':', 'cols'), rule('expr', 'values'))],
  escapeIdent: [choice(true, way('simple', [identifier('id')]), way('escaped', [token('ESC_IDENTIFIER', 'id')]))],
  optExpr: [mark(), rule('expr', 'e')],
  literal: [choice(false,
    way('int', [optional(sign('-', 'sign')), token('NUM_INT', 'tok')]), way('uint', [token('NUM_UINT', 'tok')]),
    way('double', [optional(sign('-', 'sign')), token('NUM_FLOAT', 'tok')]), way('string', [token('STRING', 'tok')]), way('bytes', [token('BYTES', 'tok')]),
    way('boolTrue', [sign('true', 'tok')]), way('boolFalse', [sign('false', 'tok')]), way('null', [sign('null', 'tok')]))],
};
