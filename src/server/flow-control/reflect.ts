// Feeds flow control with the objects that are stored, from the start on and whenever they change.
import type { Clock } from '../../base/index.ts';
import { invariant } from '../../base/index.ts';
import { type Catalog, type Reflector, type ReflectorListener, type Registry, startReflector } from '../../registry/index.ts';
import type { FlowControl } from './flow-control.ts';

interface FollowOptions {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Receives failures, which are tried again. */
  readonly onError: (error: unknown) => void;
}

/** Follows both kinds until stopped. */
export function reflectFlowControl(flowControl: FlowControl, { registry, catalog, clock, onError }: FollowOptions): { stop(): void } {
  const follow = (plural: string, onChange: ReflectorListener): Reflector => {
    const resource = catalog.find('flowcontrol.apiserver.k8s.io', 'v1', plural);
    invariant(resource !== undefined, `${plural} are served`);
    return startReflector({ registry, clock, target: { resource, version: 'v1', namespace: '' }, onChange, onError });
  };
  const reflectors = [
    follow('prioritylevelconfigurations', (type, version) => {
      if (type === 'deleted') flowControl.removeLevel(version.name);
      else flowControl.putLevel(version.object('v1'));
    }),
    follow('flowschemas', (type, version) => {
      if (type === 'deleted') flowControl.removeSchema(version.name);
      else flowControl.putSchema(version.object('v1'));
    }),
  ];
  return { stop: () => reflectors.forEach((reflector) => reflector.stop()) };
}
