// Folds: what the comprehension macros become. The range is walked by index or key, the accumulator and the variables are slots of the frame.
import { CelError, CelList, CelMap, Failure, type Value, typeOf } from '../values/values.ts';
import type { Step } from './frame.ts';

interface FoldParts {
  readonly range: Step;
  readonly init: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
  readonly accumulator: number;
  readonly variable: number;
  readonly variable2: number | undefined;
}

/** The reference names the types of its own implementation. */
function notIterable(value: Value, two: boolean): CelError {
  const name = `types.${{ string: 'String', number: 'Int', bigint: 'Int', boolean: 'Bool' }[typeof value as string] ?? goNameOf(value)}`;
  return new CelError(two ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`);
}

function goNameOf(value: Value): string {
  const { name } = typeOf(value);
  const last = name.slice(name.lastIndexOf('.') + 1).replace('null_type', 'null');
  return last.charAt(0).toUpperCase() + last.slice(1);
}

/** The step of a fold. */
export function foldStep(parts: FoldParts): Step {
  const { range, init, condition, step, result, accumulator, variable, variable2 } = parts;
  return (frame) => {
    const over = range(frame);
    if (over instanceof Failure) return over;
    const { slots } = frame;
    slots[accumulator] = init(frame);
    if (!(over instanceof CelList) && !(over instanceof CelMap)) return notIterable(over, variable2 !== undefined);
    const keys = over instanceof CelMap ? over.keys() : undefined;
    const count = keys === undefined ? over.size : keys.length;
    for (let i = 0; i < count; i++) {
      const first = keys === undefined ? i : keys[i]!;
      slots[variable] = variable2 !== undefined || keys !== undefined ? first : (over as CelList).get(i);
      if (variable2 !== undefined) slots[variable2] = keys === undefined ? (over as CelList).get(i) : (over as CelMap).find(keys[i]!)!;
      if (condition(frame) === false) break;
      slots[accumulator] = step(frame);
    }
    return result(frame);
  };
}
