// Objects of networking.k8s.io/v1beta1 and extensions/v1beta1, which are served no more, as v1 has them.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { ensureStruct, readPointer, readStructs, setAbsent } from '../common/defaults.ts';
import { formerSchema } from '../common/former-versions.ts';
import { toNumber, toText } from '../common/values.ts';

function convertPort(port: unknown): JsonObject {
  if (typeof port === 'string') return port === '' ? {} : { name: port };
  return toNumber(port ?? 0) === 0 ? {} : { number: toNumber(port) };
}

/** A backend that names neither a service nor a port has none: a port that is an empty text counts as one. */
function convertBackend(backend: JsonObject): JsonObject {
  const { serviceName, servicePort, resource } = backend;
  const name = toText(serviceName);
  const hasService = name !== '' || typeof servicePort === 'string' || toNumber(servicePort ?? 0) !== 0;
  return { ...(hasService && { service: { name, port: convertPort(servicePort) } }), ...(resource !== undefined && { resource }) };
}

function convertIngress(ingress: KubeObject): KubeObject {
  const spec = ensureStruct(ingress, 'spec');
  const backend = readPointer(spec, 'backend');
  delete spec['backend'];
  if (backend !== undefined) spec['defaultBackend'] = convertBackend(backend);
  for (const path of readStructs(spec, 'rules').flatMap((rule) => readStructs(readPointer(rule, 'http'), 'paths'))) {
    setAbsent(path, { pathType: 'ImplementationSpecific' });
    path['backend'] = convertBackend(readPointer(path, 'backend') ?? {});
  }
  return ingress;
}

const formerIngress: FormerVersion = { schema: formerSchema('networking.v1beta1.Ingress'), convert: convertIngress };

/** Former versions of Ingress. */
export const formerIngresses = { 'networking.k8s.io/v1beta1': formerIngress, 'extensions/v1beta1': formerIngress };
