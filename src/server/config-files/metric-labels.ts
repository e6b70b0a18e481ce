// The file of --allow-metric-labels-manifest, beside the flag that says the same.
import { isJsonObject } from '../../base/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type AllowedLabels, readLabelTexts } from '../metrics/allowed-labels.ts';
import { type ServerOptions, StartError } from '../options/options.ts';

const FLAG = '--allow-metric-labels-manifest';

/** Reads both. Throws StartError. */
export async function readMetricLabels({ allowMetricLabels, allowMetricLabelsManifest: path }: ServerOptions): Promise<AllowedLabels> {
  try {
    const { value } = path === '' ? { value: {} } : await parseYaml(new TextEncoder().encode(readTextFile(FLAG, path)));
    if (!isJsonObject(value) || Object.values(value).some((values) => typeof values !== 'string'))
      throw new Error('the file must map metric,label to a list of values');
    return readLabelTexts(allowMetricLabels, value as Readonly<Record<string, string>>);
  } catch (error) {
    throw error instanceof StartError ? error : new StartError(`${FLAG}: ${(error as Error).message}`, { cause: error });
  }
}
