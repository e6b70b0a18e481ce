// A conversion webhook for tests of the console, for this server and for kube-apiserver.
import { type TestService, startTestService } from '../../src/server/testing.ts';

/** An object of any version. */
interface AnyObject {
  readonly apiVersion: string;
  readonly spec: unknown;
}

/** Starts it; `convert` gets each object, and the apiVersion that is wanted. */
export const startConverter = (convert: (object: AnyObject, apiVersion: string) => AnyObject): Promise<TestService> => startTestService((_path, body) => {
  const { apiVersion, kind, request: { uid, desiredAPIVersion, objects } } = body;
  const convertedObjects = (objects as readonly AnyObject[]).map((object) => convert(object, desiredAPIVersion));
  return { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } };
});
