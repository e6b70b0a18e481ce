// Schemas and rows of the built-in kinds. They never change: the servers of a process share them.
import { loadSchemas } from '../apimachinery/index.ts';
import { once } from '../base/index.ts';
import { createBuiltinResources, descriptionData, schemaData } from '../resources/index.ts';

/** All built-in kinds, served or not. */
export const builtIn = once(() => {
  const schemas = loadSchemas(schemaData, descriptionData);
  return { schemas, rows: createBuiltinResources(schemas) };
});
