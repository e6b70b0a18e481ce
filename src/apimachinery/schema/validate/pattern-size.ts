// How large a pattern becomes when it is compiled, read off its text: repetitions with bounds are written out, as Go's regexp does, so
// `(ab){1,500}` has a thousand steps. An estimate that is never much too small; what is wrong with a pattern is for the engine to say.

const bounds = /^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/;
/** Classes by name hold up to some hundred ranges, which weigh about as much as so many steps. */
const NAMED_CLASS_STEPS = 20;

interface Group {
  steps: number;
  /** Steps of what a repetition would repeat. */
  last: number;
}

/** How many steps a pattern is compiled to, about. */
export function estimatePatternSize(pattern: string): number {
  const groups: Group[] = [];
  let group: Group = { steps: 0, last: 0 };
  const add = (steps: number): void => {
    group.steps += steps;
    group.last = steps;
  };
  for (let i = 0; i < pattern.length; i++) {
    const next = pattern[i];
    if (next === '(') {
      groups.push(group);
      group = { steps: 2, last: 0 };
    } else if (next === ')') {
      const { steps } = group;
      group = groups.pop() ?? { steps: 0, last: 0 };
      add(steps);
    } else if (next === '[') {
      i = endOfClass(pattern, i);
      add(2);
    } else if (next === '\\') {
      i++;
      add(pattern[i] === 'p' || pattern[i] === 'P' ? NAMED_CLASS_STEPS : 1);
    } else if (next === '{') {
      const found = bounds.exec(pattern.slice(i, i + 11));
      if (found !== null) repeat(group, Number(found[3] || found[1]));
      i += (found?.[0].length ?? 1) - 1;
    } else add(1);
  }
  return groups.reduce((sum, { steps }) => sum + steps, group.steps) + 2;
}

/** Each copy beyond the least number is optional, which takes one step more. */
function repeat(group: Group, times: number): void {
  group.steps += group.last * (times - 1) + times;
  group.last = group.last * times + times;
}

function endOfClass(pattern: string, start: number): number {
  let i = start + 1;
  if (pattern[i] === '^') i++;
  if (pattern[i] === ']') i++;
  while (i < pattern.length && pattern[i] !== ']') {
    if (pattern[i] === '\\') i++;
    else if (pattern.startsWith('[:', i)) i = Math.max(i, pattern.indexOf(':]', i) + 1);
    i++;
  }
  return i;
}
