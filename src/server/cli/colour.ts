// Colours of what a person reads. A file, a pipe and a terminal without colours get the text alone.

const codes = { red: 31, green: 32, yellow: 33 } as const;

interface Output {
  readonly isTTY?: boolean;
}

/** The text as `output` shows it; NO_COLOR and TERM=dumb are respected. */
export function colour(output: Output, name: keyof typeof codes, text: string): string {
  const isPlain = output.isTTY !== true || (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb';
  return isPlain ? text : `\u001b[${codes[name]}m${text}\u001b[0m`;
}
