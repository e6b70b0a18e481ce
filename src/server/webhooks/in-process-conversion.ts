// Conversions of custom kinds in the server's own process: functions in place of the conversion webhook that a definition names.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { SendConversion } from '../../crd/index.ts';

/** Makes an object of one version of its kind from one of another: apiVersion says which; metadata other than labels and annotations stays as it is. */
export type ConvertObject = (object: KubeObject, desiredApiVersion: string) => KubeObject | Promise<KubeObject>;

interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

/** Answers the reviews of definitions that have a function, by their name or `*`, and sends all others. */
export function convertInProcess(conversions: Readonly<Record<string, ConvertObject>>, send: SendConversion): SendConversion {
  return async (client, review, definition) => {
    const name = [definition, '*'].find((one) => Object.hasOwn(conversions, one));
    const convert = name === undefined ? undefined : conversions[name];
    if (convert === undefined) return send(client, review, definition);
    const { request, ...head } = review as { readonly request: ConversionRequest };
    const convertedObjects = [];
    for (const object of request.objects) {
      const converted = await convert(object, request.desiredAPIVersion);
      convertedObjects.push({ ...converted, apiVersion: request.desiredAPIVersion });
    }
    return { ...head, response: { uid: request.uid, convertedObjects, result: { status: 'Success' } } };
  };
}
