// The report as JSON.
import { type Report, placeFindings, sumUp } from './report.ts';

/** One document with everything. */
export function formatJson(report: Report): string {
  const objects = report.verdicts.map((verdict) => {
    const { document: { object: { apiVersion, kind, metadata }, place }, namespace, action, isOffline, changes } = verdict;
    return {
      file: place.file, line: place.line, ...(place.template !== '' && { template: place.template }), apiVersion, kind,
      ...(namespace !== '' && { namespace }), name: metadata?.name, action, ...(isOffline && { evaluatedInMemory: true }),
      findings: placeFindings(verdict).map(({ level, rule, message, field, line, column }) =>
        ({ level, rule, message, ...(field !== '' && { field }), line, column })),
      ...(report.kind === 'plan' && { changes }),
    };
  });
  const { kind, pruned, notes } = report;
  return `${JSON.stringify({ kind, objects, ...(kind === 'plan' && { pruned }), notes, sums: sumUp(report) }, null, 2)}\n`;
}
