// Field selectors per kind, besides metadata.name and metadata.namespace: which labels the reference accepts and what they read.
import type { KubeObject } from '../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toText } from './columns/common.ts';

/** Reads the stored object; '' when the field is absent. */
type FieldReader = (object: KubeObject) => string;

/** Reads a text at a dotted path. */
function textAt(path: string): FieldReader {
  const names = path.split('.');
  return (object) => toText(readPath(object, ...names));
}

/** Labels that are the path they read. */
function textFields(...paths: readonly string[]): Record<string, FieldReader> {
  return Object.fromEntries(paths.map((path) => [path, textAt(path)]));
}

const boolAt = (path: string): FieldReader => (object) => String(readPath(object, ...path.split('.')) === true);
const countAt = (path: string): FieldReader => (object) => String(toNumber(readPath(object, ...path.split('.'))));

function readPodIps(object: KubeObject): readonly string[] {
  return toList(readPath(object, 'status', 'podIPs')).map((entry) => toText(toObject(entry)['ip']));
}

/** What objects of these kinds can be selected by besides name and namespace. */
export const podFields = {
  ...textFields('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'status.phase', 'status.nominatedNodeName'),
  'spec.host': textAt('spec.nodeName'),
  'spec.hostNetwork': boolAt('spec.hostNetwork'),
  'status.podIP': (object: KubeObject) => readPodIps(object)[0] ?? toText(readPath(object, 'status', 'podIP')),
  'status.podIPs': (object: KubeObject) => readPodIps(object)[0] ?? '',
};

export const nodeFields = { 'spec.unschedulable': boolAt('spec.unschedulable') };
export const namespaceFields = textFields('status.phase');
export const secretFields = textFields('type');
export const serviceFields = textFields('spec.clusterIP', 'spec.type');
export const replicaFields = { 'status.replicas': countAt('status.replicas') };
export const jobFields = { 'status.successful': countAt('status.succeeded') };
export const signingRequestFields = textFields('spec.signerName');
export const resourceSliceFields = textFields('spec.nodeName', 'spec.driver');

const involvedPaths = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The reference reads the component of the old source when nothing reports, and the other way round. */
const eventSource: FieldReader = (object) => toText(readPath(object, 'source', 'component')) || toText(readPath(object, 'reportingComponent'));

/** Fields of events as v1 spells them. */
export const coreEventFields = {
  ...textFields(...involvedPaths.map((name) => `involvedObject.${name}`), 'reason', 'reportingComponent', 'type'),
  source: eventSource,
};

/** Read from the event as its group shows it, though the core group stores it. */
export const eventsGroupFields = textFields(...involvedPaths.map((name) => `regarding.${name}`), 'reason', 'reportingController', 'type');
