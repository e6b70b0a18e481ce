// The answers of routing itself: what is not served, and methods that a route does not have. Built-in APIs answer a Status; groups
// that only custom resources make are known to a plain multiplexer, which answers text.
import { failure, type StatusError } from '../../apimachinery/index.ts';
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

/** Throws the 405 of the router of built-in APIs, whose documents are read by GET alone. What lies above and beside it takes any method. */
export function checkGet({ method }: Exchange): void {
  if (method !== 'GET') throw methodNotAllowed();
}

/** 503 for what another server should answer, which this one does not reach. */
export function respondUnavailable(): Response {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { status: 503, headers, body: new TextEncoder().encode('service unavailable\n') };
}

/** Nothing is served at the path; `rows` are those of its group. */
export function notServed(exchange: Exchange, rows: readonly Resource[]): Response {
  if (rows.some(({ custom }) => !custom)) throw routeNotFound();
  return respondNotFoundText(exchange);
}
