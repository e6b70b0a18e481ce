// Lives of tools that keep a state of their own (Pulumi, Terraform): from the first plan to the last removal, on this server and on kube-apiserver.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { noEtcd } from '../../src/storage/etcd/cluster.suite.ts';
import { type Peer, makeDirectory, startEtcd, startServer } from '../differential/servers.ts';

/** What a life comes to: the commands of the tool, and the objects on the server and the state of the tool after some of them. */
export interface Life<Step> {
  readonly steps: readonly Step[];
  readonly objects: Readonly<Record<string, unknown>>;
}

interface Setting<Step> {
  /** The loops of kube-controller-manager that the life needs. */
  readonly loops: readonly string[];
  /** Lives beside a server, in an empty folder. */
  readonly live: (folder: string, server: Peer) => Promise<Life<Step>>;
}

const peer = process.env['PINTLE_KUBE_APISERVER'];

/** Why no life can be compared with one on kube-apiserver; false where it can. */
export const noPeer = (peer === undefined && 'PINTLE_KUBE_APISERVER names no program') || noEtcd;

/** Runs a life on this server, or on the server of a program over an etcd. */
export async function runLife<Step>({ loops, live }: Setting<Step>, program?: string): Promise<Life<Step>> {
  const directory = makeDirectory();
  const etcd = program === undefined ? undefined : await startEtcd();
  const server = await startServer({ directory, loops, ...(etcd && { etcd: etcd.endpoints.join() }) }, program);
  try {
    const folder = join(directory, 'life');
    mkdirSync(folder);
    return await live(folder, server);
  } finally {
    await server.stop();
    await etcd?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Asserts that a life is the same on kube-apiserver. */
export async function assertSameLife<Step>(setting: Setting<Step>): Promise<void> {
  const [ours, theirs] = [await runLife(setting), await runLife(setting, peer)];
  assert.deepEqual(ours.steps, theirs.steps);
  assert.deepEqual(ours.objects, theirs.objects);
}
