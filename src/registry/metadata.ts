// Metadata of writes: what the server fills in, what a client may not choose, and whether an object is where its request points.
import { type KubeObject, type StatusError, badRequest } from '../apimachinery/index.ts';
import type { Clock, Random } from '../base/index.ts';
import type { Target } from './contract.ts';
import { formatTime } from './timestamps.ts';
import type { Resource } from './resource.ts';

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const GENERATED_BASE_LIMIT = 58;

/** Fills the namespace of the request in, clears it where there is none; 400 when the object names another. */
export function checkNamespace(target: Target, object: KubeObject): void {
  const { metadata } = object;
  if (!target.resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (!metadata.namespace) metadata.namespace = target.namespace;
  else if (metadata.namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** 400 of an object without a name, sent to the path of one. */
export const namelessObject = (name: string): StatusError =>
  badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);

/**
 * The check that an object sent to a path is the object of that path; fills an empty namespace in. The loop does it after every
 * transform; handlers of PUT do it before, because there a wrong name wins over an absent object.
 */
export function checkIdentity(target: Target, name: string, object: KubeObject): void {
  checkNamespace(target, object);
  const given = object.metadata.name ?? '';
  if (given === '') throw namelessObject(name);
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

/** Drops what a creator may not choose. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

/** A name made of `base` and five random characters, at most 63 long. */
export function generateName(random: Random, base: string): string {
  let name = base.slice(0, GENERATED_BASE_LIMIT);
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += SUFFIX_ALPHABET[random.below(SUFFIX_ALPHABET.length)] as string;
  return name;
}

/** Gives a new object its identity. */
export function fillSystemFields({ metadata }: KubeObject, { clock, random }: { readonly clock: Clock; readonly random: Random }): void {
  metadata.creationTimestamp = formatTime(clock.now());
  metadata.uid = random.uuid();
  if (metadata.generateName && !metadata.name) metadata.name = generateName(random, metadata.generateName);
}

/** Removes owner references that are equal to an earlier one; the warning names their uids and says when they were found. */
export function dedupeOwners({ metadata }: KubeObject, warnings: string[], when: 'beforeAdmission' | 'afterAdmission'): void {
  const owners = metadata.ownerReferences;
  if (owners === undefined || owners === null || owners.length < 2) return;
  const seen = new Set<string>();
  const duplicates: string[] = [];
  const kept = owners.filter(({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) => {
    const content = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
    if (seen.has(content)) duplicates.push(uid);
    return seen.size < seen.add(content).size;
  });
  if (duplicates.length === 0) return;
  metadata.ownerReferences = kept;
  const found = when === 'afterAdmission' ? ' after mutating admission happens' : '';
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${found}; API server dedups owner references in 1.20+, and may reject such requests as early ` +
    `as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`);
}

/** Warnings about finalizers of custom resources that carry no domain; built-in kinds refuse them. */
export function finalizerWarnings(resource: Resource, object: KubeObject, old: KubeObject | undefined): string[] {
  if (!resource.custom) return [];
  const known = new Set(old?.metadata.finalizers);
  const standard = ['kubernetes', 'orphan', 'foregroundDeletion'];
  return (object.metadata.finalizers ?? [])
    .filter((f) => !f.includes('/') && !known.has(f) && !standard.includes(f))
    .map((f) => `metadata.finalizers: ${JSON.stringify(f)}: prefer a domain-qualified finalizer name ${f.includes('.') ? 'including a path (/) ' : ''}`
      + 'to avoid accidental conflicts with other finalizer writers');
}
