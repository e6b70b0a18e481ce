// The report as SARIF 2.1.0, which code review tools show beside the lines.
import { relative, resolve, sep } from 'node:path';
import { readPackageVersion } from '../../../server/index.ts';
import { ruleTexts } from '../verdict.ts';
import { type Report, nameOf, placeFindings } from './report.ts';

/** Paths as readers resolve them: from the folder of the run, with slashes. */
function uriOf(file: string): string {
  if (file === '-' || file === '') return 'stdin';
  return relative('.', resolve(file)).split(sep).map(encodeURIComponent).join('/');
}

/** The log. */
export function formatSarif(report: Report): string {
  const results = report.verdicts.flatMap((verdict) => placeFindings(verdict).map(({ level, rule, message, field, file, line, column }) => ({
    ruleId: rule, level, message: { text: [nameOf(verdict), field, message].filter((part) => part !== '').join(': ') },
    locations: [{
      physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: line, startColumn: column } },
      ...(nameOf(verdict) !== '' && { logicalLocations: [{ fullyQualifiedName: nameOf(verdict), kind: 'object' }] }),
    }],
  })));
  const rules = Object.entries(ruleTexts).map(([id, text]) => ({ id, shortDescription: { text } }));
  return `${JSON.stringify({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0',
    runs: [{ tool: { driver: { name: 'pintle', version: readPackageVersion(), rules } }, columnKind: 'utf16CodeUnits', results }],
  }, null, 2)}\n`;
}
