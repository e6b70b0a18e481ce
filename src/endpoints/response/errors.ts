// Errors of routing: paths that are not served, and methods that a route does not have. Built-in APIs answer a Status; in groups that
// consist of custom resources alone upstream has a plain multiplexer, which answers text.
import { badRequest, failure, type StatusError } from '../../apimachinery/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Exchange, Response } from '../exchange.ts';
import { respondNotFoundText } from './respond.ts';

/** 404 of the router of built-in APIs. */
export function routeNotFound(): StatusError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 405 of the router of built-in APIs. */
export function methodNotAllowed(): StatusError {
  return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** 400 of a path with an empty name. */
export const namelessPath = (): StatusError => badRequest('name must be provided');

/** Throws the 405 of the router of built-in APIs, which serves its documents for GET alone; those of groups and custom resources take any method. */
export function checkGet({ method }: Exchange): void {
  if (method !== 'GET') throw methodNotAllowed();
}

/** 404 of a path that is not served; `resources` are those of its group. */
export function notServed(exchange: Exchange, resources: readonly Resource[]): Response {
  if (resources.some(({ custom }) => !custom)) throw routeNotFound();
  return respondNotFoundText(exchange);
}
