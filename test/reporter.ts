// A reporter of node:test. On a terminal one line shows which file of how many ran last and how many tests have passed; elsewhere each file is a
// dot. Failures and skipped tests are printed when they come, with the file and the error.
import path from 'node:path';
import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

const total = Number(process.env['PINTLE_TEST_FILES'] ?? 0);
const isTerminal = process.stdout.isTTY === true;
const dotsPerLine = 60;

interface Progress {
  files: Set<string>;
  passed: number;
  failed: number;
}

const shortName = (file = ''): string => path.relative(process.cwd(), file).replace(/^dist\//, '').replace(/\.js$/, '');

function showProgress({ files, passed, failed }: Progress, file: string): string {
  if (isTerminal) {
    const line = `[${files.size}/${total}] ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}  ${shortName(file)}`;
    return `\r\u001b[K${line.slice(0, process.stdout.columns || 120)}`;
  }
  return `.${files.size % dotsPerLine === 0 || files.size === total ? ` ${files.size}/${total}\n` : ''}`;
}

function describeFailure(data: Extract<TestEvent, { type: 'test:fail' }>['data']): string {
  const error = data.details.error as Error & { cause?: unknown };
  const text = inspect(error.cause ?? error, { depth: 4, breakLength: 150 }).split('\n').slice(0, 60).join('\n  ');
  // A file that fails as a whole says how its process ended.
  const { exitCode, signal } = error as { exitCode?: number; signal?: string };
  const end = exitCode === undefined ? '' : `\n  exit code ${exitCode}, signal ${signal ?? 'none'}`;
  return `\n✖ ${shortName(data.file)}: ${data.name}\n  ${text}${end}\n`;
}

/** A suite or a file fails because a test in it does: the test alone is reported. */
const isContainer = (data: { details: { type?: string }; name: string; file?: string }): boolean => data.details.type === 'suite' || data.name === data.file;

/** Turns the events of a run into what a person reads. */
async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const progress: Progress = { files: new Set(), passed: 0, failed: 0 };
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { data } = event;
    if (data.skip !== undefined && data.skip !== false) yield `\n- ${shortName(data.file)}: ${data.name} is skipped: ${String(data.skip)}\n`;
    const isFailure = event.type === 'test:fail' && (data.todo === undefined || data.todo === false);
    if (!isContainer(data)) progress[isFailure ? 'failed' : 'passed']++;
    if (isFailure && (!isContainer(data) || !/subtests? failed/.test(String(event.data.details.error)))) yield describeFailure(event.data);
    if (data.file === undefined || progress.files.has(data.file)) continue;
    progress.files.add(data.file);
    yield showProgress(progress, data.file);
  }
  yield '\n';
}

export { report as default };
