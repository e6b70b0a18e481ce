// Checks the schema data of the source tree against the published definitions: each must come back from toOpenAPIv3 as it was.
import { isDeepStrictEqual } from 'node:util';
import { loadSchemas, toOpenAPIv3 } from '../src/apimachinery/index.ts';
import { schemaData } from '../src/resources/schema/index.ts';

/** Prints each definition that does not come back, and sets the exit code. */
export function verifySchemas(published: Readonly<Record<string, unknown>>): void {
  const schemas = loadSchemas(schemaData);
  const wrong = Object.entries(published).filter(([name, expected]) => {
    const definition = schemas.definition(name);
    const actual = definition && toOpenAPIv3(definition);
    if (isDeepStrictEqual(actual, expected)) return false;
    console.error(`${name}\n  published: ${JSON.stringify(expected)}\n  from data: ${JSON.stringify(actual)}`);
    return true;
  });
  console.log(`${Object.keys(published).length - wrong.length} definitions come back as published, ${wrong.length} do not`);
  if (wrong.length > 0) process.exitCode = 1;
}
