// Schemas and rows of the built-in kinds. They never change: the servers of a process share them.
import { crc32 } from 'node:zlib';
import { loadSchemas } from '../apimachinery/index.ts';
import { once } from '../base/index.ts';
import { createBuiltinResources, descriptionData, schemaData } from '../resources/index.ts';
import { readPackageVersion } from './cli/version.ts';

/** All built-in kinds, served or not. */
export const builtIn = once(() => {
  const schemas = loadSchemas(schemaData, descriptionData);
  // Begun with what the schemas say of fields, their order and their defaults; a default that code gives comes with another release.
  const seed = schemaData.reduce((sum, text) => crc32(text, sum), crc32(readPackageVersion()));
  return { schemas, rows: createBuiltinResources(schemas), sum: (json: Uint8Array) => crc32(json, seed) };
});
