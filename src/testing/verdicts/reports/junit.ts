// The report as JUnit XML: a suite for each file, a test for each object, its errors as failures.
import { type Report, nameOf, placeFindings } from './report.ts';

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };
/** A text of XML; characters that XML does not have are left out. */
const escape = (text: string): string => text.replaceAll(/[&<>"\n]/g, (found) => entities[found] as string).replaceAll(/[^\t\n\r -\ud7ff\ue000-\ufffd]/gu, '');

/** The document. */
export function formatJunit({ verdicts, pruned }: Report): string {
  const files = new Map<string, string[]>();
  let failures = 0;
  const add = (file: string, line: string): void => void files.set(file, [...files.get(file) ?? [], line]);
  for (const verdict of verdicts) {
    const { document: { place }, action } = verdict;
    const findings = placeFindings(verdict);
    const errors = findings.filter(({ level }) => level === 'error');
    if (errors.length > 0) failures++;
    const line = ({ file, line: at, column, field, message }: typeof findings[number]): string =>
      `${file}:${at}:${column}: ${field === '' ? '' : `${field}: `}${message}`;
    const warnings = findings.filter(({ level }) => level === 'warning').map(line);
    const [error] = errors;
    const inside = [
      ...(error === undefined ? [] : [`<failure type="${error.rule}" message="${escape(error.message)}">${escape(errors.map(line).join('\n'))}</failure>`]),
      ...(action === 'skipped' ? ['<skipped/>'] : []), ...(warnings.length === 0 ? [] : [`<system-out>${escape(warnings.join('\n'))}</system-out>`]),
    ];
    add(place.file, `    <testcase classname="${escape(place.file)}" name="${escape(nameOf(verdict) || `line ${place.line}`)}">${inside.join('')}</testcase>`);
  }
  for (const { kind, namespace, name, findings } of pruned) {
    const [error] = findings.filter(({ level }) => level === 'error');
    if (error !== undefined) failures++;
    const inside = error === undefined ? '' : `<failure type="${error.rule}" message="${escape(error.message)}"></failure>`;
    add('(prune)', `    <testcase classname="prune" name="${escape(`prune ${kind} ${namespace}/${name}`)}">${inside}</testcase>`);
  }
  const suites = [...files].flatMap(([file, lines]) => {
    const failed = lines.filter((line) => line.includes('<failure ')).length;
    return [`  <testsuite name="${escape(file)}" tests="${lines.length}" failures="${failed}">`, ...lines, '  </testsuite>'];
  });
  const tests = verdicts.length + pruned.length;
  const open = `<testsuites name="pintle" tests="${tests}" failures="${failures}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', open, ...suites, '</testsuites>', ''].join('\n');
}
