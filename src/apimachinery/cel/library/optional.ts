// Optional values: optional.of, hasValue, orValue, `?` in selections and indexes, optMap. `or` and `orValue` evaluate their argument only when
// they need it, which the evaluator sees to.
import type { Expr } from '../parse/ast.ts';
import { type Library, declare, method, overload } from '../check/environment.ts';
import { ExprBuilder, type Macro, macroKey, variableOf } from '../parse/macros.ts';
import { boolType, dynType, intType, listOf, mapOf, opaqueType, optionalOf, paramType, stringType } from '../values/types.ts';
import {
  ArrayList, CelDouble, CelDuration, CelError, CelList, CelMap, CelOptional, CelUint, type Value, noSuchOverload, noneOptional,
} from '../values/values.ts';

const v = paramType('V');
const k = paramType('K');
const optionalV = optionalOf(v);
const listV = listOf(v);
const mapKV = mapOf(k, v);

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  return value instanceof CelOptional && value.value === undefined;
}

const found = (value: Value | undefined): CelOptional => (value === undefined ? noneOptional : new CelOptional(value));

function elementOf(list: CelList, index: Value): CelOptional {
  const at = Number(index);
  return at >= 0 && at < list.size ? new CelOptional(list.get(at)) : noneOptional;
}

/** An index into what an optional holds. */
function indexed(optional: CelOptional, index: Value): Value {
  const inner = optional.value;
  if (inner === undefined) return noneOptional;
  if (inner instanceof CelList) return elementOf(inner, index);
  return inner instanceof CelMap ? found(inner.find(index)) : noSuchOverload;
}

/** target.optMap(v, e): e of the value, as an optional; target.optFlatMap(v, e): e is an optional itself. */
function optionalMapping(flat: boolean): Macro {
  return (helper, { id, target, args }) => {
    const build = new ExprBuilder(helper, { id });
    const name = variableOf(args[0]!, `${flat ? 'optFlatMap' : 'optMap'}() variable name must be a simple identifier`);
    const value = build.memberCall(target!, 'value');
    const body: Expr = build.bind(name, value, args[1]!);
    return build.call('_?_:_', build.memberCall(target!, 'hasValue'), flat ? body : build.call('optional.of', body), build.call('optional.none'));
  };
}

const unwrap = (list: CelList): Value =>
  new ArrayList(list.toArray().flatMap((item) => (item instanceof CelOptional && item.value !== undefined ? [item.value] : [])));

const valueOf = ({ value }: CelOptional): Value => (value === undefined ? new CelError('optional.none() dereference') : value);

/** Selections and alternatives are types only here: the evaluator has steps of its own for them, which evaluate no more than they need. */
const evaluatedElsewhere = (): Value => noSuchOverload;

/** Optional types, as Kubernetes enables them. */
export const optionalLibrary: Library = {
  types: new Map([['optional_type', opaqueType('optional_type')]]),
  macros: [[macroKey('optMap', 2, true), optionalMapping(false)], [macroKey('optFlatMap', 2, true), optionalMapping(true)]],
  functions: [
    declare('optional.of', overload('optional_of', [v], [optionalV, found])),
    declare('optional.ofNonZeroValue', overload('optional_ofNonZeroValue', [v], [optionalV, (value: Value) => (isZero(value) ? noneOptional : found(value))])),
    declare('optional.none', overload('optional_none', [], [optionalV, () => noneOptional])),
    declare('optional.unwrap', overload('optional_unwrap', [listOf(optionalV)], [listV, unwrap])),
    declare('unwrapOpt', method('optional_unwrapOpt', [listOf(optionalV)], [listV, unwrap])),
    declare('value', method('optional_value', [optionalV], [v, valueOf])),
    declare('hasValue', method('optional_hasValue', [optionalV], [boolType, (optional: CelOptional) => optional.value !== undefined])),
    declare('or', method('optional_or_optional', [optionalV, optionalV], [optionalV, evaluatedElsewhere])),
    declare('orValue', method('optional_orValue_value', [optionalV, v], [v, evaluatedElsewhere])),
    declare('_?._', overload('select_optional_field', [dynType, stringType], [optionalV, evaluatedElsewhere])),
    declare('_[?_]',
      overload('list_optindex_optional_int', [listV, intType], [optionalV, elementOf]),
      overload('optional_list_optindex_optional_int', [optionalOf(listV), intType], [optionalV, indexed]),
      overload('map_optindex_optional_value', [mapKV, k], [optionalV, (map: CelMap, key: Value) => found(map.find(key))]),
      overload('optional_map_optindex_optional_value', [optionalOf(mapKV), k], [optionalV, indexed])),
    declare('_[_]',
      overload('optional_list_index_int', [optionalOf(listV), intType], [optionalV, indexed]),
      overload('optional_map_index_value', [optionalOf(mapKV), k], [optionalV, indexed])),
    declare('first', method('list_first', [listV], [optionalV, (list: CelList) => elementOf(list, 0)])),
    declare('last', method('list_last', [listV], [optionalV, (list: CelList) => elementOf(list, list.size - 1)])),
  ],
};
