// Annotations of nodes that hold JSON: pods to keep away, and the taints of older releases. They are read as Go's decoder reads them, which takes names of
// members whatever their case, and errors are its words.
import { isJsonObject } from '../../../base/index.ts';
import { DecodeError, type KubeObject, type Schema, decodeObject, describeJson, invalidValue, loadSchemas, required } from '../../../apimachinery/index.ts';
import { JsonError, parseJson } from '../../../codec/index.ts';
import { type Errors, type Field, at, each, isGiven, none } from '../../common/validation/check.ts';
import { metaSchemas } from '../../schema/meta.data.ts';
import { checkTaints } from './taints.ts';

/** What the annotations hold. The taints have the names of upstream's type inside, which its decoder knows no others for. */
const ANNOTATION_SCHEMAS = `
package io.k8s.api.core.v1
AvoidPods: preferAvoidPods 1 []PreferAvoidPodsEntry ?
PreferAvoidPodsEntry: podSignature 1 PodSignature !; evictionTime 2 Time; reason 3 string ?; message 4 string ?
PodSignature: podController 1 meta.v1.OwnerReference *?
package core
Taint: Key 1 string !; Value 2 string !; Effect 3 string ! go=core.TaintEffect; TimeAdded 4 Time *
`;
const schemas = loadSchemas([ANNOTATION_SCHEMAS, metaSchemas]);
const schemaOf = (name: string): Schema => schemas.definition(name) as Schema;
const AVOIDED = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const TAINTS = 'scheduler.alpha.kubernetes.io/taints';

/** A value with the names of its schema, whatever the case that they came in. */
function foldNames(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value) && schema.items !== undefined) return value.map((item) => foldNames(schema.items as Schema, item));
  const { fields } = schema;
  if (fields === undefined || !isJsonObject(value)) return value;
  const known = new Map([...fields.values()].map((field) => [field.name.toLowerCase(), field]));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => {
    const field = fields.get(name) ?? known.get(name.toLowerCase());
    return field === undefined ? [name, inner] : [field.name, foldNames(field.schema, inner)];
  }));
}

/** What `read` makes of the JSON of a field; the errors are those of the reading, and `show` has their place. */
function readAnnotation(text: string, show: (why: string) => Errors, read: (value: unknown) => Errors): Errors {
  try {
    return read(parseJson(Buffer.from(text)).value);
  } catch (error) {
    if (error instanceof JsonError || error instanceof DecodeError) return show(error.message);
    throw error;
  }
}

const decode = (schema: Schema, value: unknown): Record<string, unknown> => decodeObject(schema, foldNames(schema, value)).object;

/** The taints of a list, with the names of the API. */
function readTaints(value: unknown): readonly object[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new DecodeError(`json: cannot unmarshal ${describeJson(value)} into Go value of type []core.Taint`);
  const schema = schemaOf('core.Taint');
  return value.map((one) => {
    const { Key: key, Value, Effect: effect, TimeAdded: timeAdded } = decode(schema, one);
    return { key, value: Value, effect, timeAdded };
  });
}

/** An entry names the controller whose pods are to keep away. */
function checkAvoided(entry: Field): Errors {
  const signature = `${entry.path}.PodSignature`;
  const controller = at(entry, 'podSignature', 'podController');
  if (!isGiven(controller)) return [required(signature)];
  const isController = at(controller, 'controller').value === true;
  return isController ? none : [invalidValue(`${signature}.PodController.Controller`, false, 'must point to a controller')];
}

/** Validates the annotations of a node that mean something to the server. */
export function checkNodeAnnotations({ metadata: { annotations = {} } }: KubeObject): Errors {
  const path = 'metadata.annotations';
  const { [TAINTS]: taints = '', [AVOIDED]: avoided = '' } = annotations;
  return [
    ...(taints === '' ? none : readAnnotation(taints, (why) => [invalidValue(path, TAINTS, why)], (value) =>
      checkTaints({ path: `${path}.${TAINTS}`, value: readTaints(value) }))),
    ...(avoided === '' ? none : readAnnotation(avoided, (why) => [invalidValue(`${path}.AvoidPods`, AVOIDED, why)], (value) => {
      const decoded = decode(schemaOf('io.k8s.api.core.v1.AvoidPods'), value);
      return each({ path: `${path}.${AVOIDED}`, value: decoded['preferAvoidPods'] }).flatMap(checkAvoided);
    })),
  ];
}
