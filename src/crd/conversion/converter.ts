// Versions of a custom kind. With strategy None versions differ in their name only: the apiVersion is rewritten and what the target's
// schema does not know is pruned, with the nulls that it does not allow. A stored object is first pruned and defaulted by its own version,
// as upstream decodes it.
import { type KubeObject, formatGroupVersion, normalizeCustomObject, parseGroupVersion, pruneConverted } from '../../apimachinery/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { VersionSchemas } from '../schemas.ts';

/** What a converter knows of a kind. */
interface ConverterOptions {
  readonly group: string;
  readonly storageVersion: string;
  readonly schemas: Omit<VersionSchemas, 'prepare'>;
}

/** The conversions of a row. */
export function createConverter({ group, storageVersion, schemas }: ConverterOptions): Required<Pick<Resource, 'convert' | 'readStored'>> {
  const convert = (object: KubeObject, _from: string, to: string): KubeObject => {
    const schema = schemas.get(to);
    const converted = schema === undefined ? object : (pruneConverted(schema, object) as unknown as KubeObject);
    converted.apiVersion = formatGroupVersion({ group, version: to });
    return converted;
  };
  return {
    convert,
    readStored(object, version) {
      const written = parseGroupVersion(object.apiVersion ?? '')?.version ?? storageVersion;
      const schema = schemas.get(written) ?? schemas.get(storageVersion);
      const normal = schema === undefined ? object : (normalizeCustomObject(schema, object) as unknown as KubeObject);
      return written === version ? normal : convert(normal, written, version);
    },
  };
}
