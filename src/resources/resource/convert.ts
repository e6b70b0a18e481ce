// resource.k8s.io v1beta1 beside v1 and v1beta2, which are alike: there, a request for devices has the members of `exactly` itself, and a device of a
// slice has those of `basic`. Objects given are left as they are.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { toObject } from '../common/values.ts';

const FLAT = 'v1beta1';
const exactMembers = ['deviceClassName', 'selectors', 'allocationMode', 'count', 'adminAccess', 'tolerations', 'capacity'];
const deviceMembers = ['name'];

type Change = (member: JsonObject) => JsonObject;

/** A copy of an object with another value at a path; an object without that path is answered as it is. */
function changeAt(object: JsonObject, [name = '', ...rest]: readonly string[], change: Change): JsonObject {
  const value = object[name];
  if (value === undefined || value === null) return object;
  if (rest.length === 0 && Array.isArray(value)) return { ...object, [name]: value.map((item) => change(toObject(item) as JsonObject)) };
  return typeof value === 'object' && !Array.isArray(value) ? { ...object, [name]: changeAt(value, rest, change) } : object;
}

function split(object: JsonObject, names: readonly string[]): readonly [taken: JsonObject, left: JsonObject] {
  const entries = Object.entries(object);
  return [Object.fromEntries(entries.filter(([name]) => names.includes(name))), Object.fromEntries(entries.filter(([name]) => !names.includes(name)))];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== 0;

function unflattenRequest(request: JsonObject): JsonObject {
  const [taken, left] = split(request, exactMembers);
  const { name, ...rest } = left;
  return Object.values(taken).some(isSet) ? { ...(name !== undefined && { name }), exactly: { deviceClassName: '', ...taken }, ...rest } : left;
}

function flattenRequest({ exactly, ...request }: JsonObject): JsonObject {
  const { name, ...rest } = request;
  return { ...(name !== undefined && { name }), deviceClassName: '', ...toObject(exactly) as JsonObject, ...rest };
}

function unflattenDevice({ basic, ...device }: JsonObject): JsonObject {
  return { ...device, ...toObject(basic) as JsonObject };
}

function flattenDevice(device: JsonObject): JsonObject {
  const [named, basic] = split(device, deviceMembers);
  return { ...named, basic };
}

/** The node of a slice is a text there, and the mark of all nodes a truth value: what is empty is absent. */
function dropEmpty(slice: JsonObject): JsonObject {
  const { nodeName, allNodes, ...spec } = toObject(slice['spec']) as JsonObject;
  return { ...slice, spec: { ...spec, ...(nodeName !== undefined && nodeName !== '' && { nodeName }), ...(allNodes === true && { allNodes }) } };
}

type Convert = (object: KubeObject, from: string, to: string) => KubeObject;

function convertWith(flatten: (object: JsonObject) => JsonObject, unflatten: (object: JsonObject) => JsonObject): Convert {
  return (object, from, to) => {
    if ((from === FLAT) === (to === FLAT)) return { ...object };
    return (to === FLAT ? flatten : unflatten)(object as JsonObject) as unknown as KubeObject;
  };
}

function convertAt(path: readonly string[], flatten: Change, unflatten: Change): Convert {
  return convertWith((object) => changeAt(object, path, flatten), (object) => changeAt(object, path, unflatten));
}

/** Conversion of resourceclaims. */
export const convertClaim: Convert = convertAt(['spec', 'devices', 'requests'], flattenRequest, unflattenRequest);

/** Conversion of resourceclaimtemplates. */
export const convertClaimTemplate: Convert = convertAt(['spec', 'spec', 'devices', 'requests'], flattenRequest, unflattenRequest);

/** Conversion of resourceslices. */
export const convertSlice: Convert = convertWith(
  (slice) => changeAt(dropEmpty(slice), ['spec', 'devices'], flattenDevice), (slice) => changeAt(dropEmpty(slice), ['spec', 'devices'], unflattenDevice),
);
