// Annotations that plugins add to the audit event of a request. They are kept in the context of the request and never shown to its client.
import { checkQualifiedName } from '../apimachinery/index.ts';
import type { AuditAnnotation, WriteContext } from '../registry/index.ts';

/**
 * Adds an annotation; keys are qualified names with a prefix (`example.com/reason`), and the first value of a key stays. Anything else is left out,
 * as in the reference, which logs it. `level`: the least audit level that shows it.
 */
export function annotate({ auditAnnotations }: Pick<WriteContext, 'auditAnnotations'>, key: string, { value, level = 'Metadata' }: {
  readonly value: string; readonly level?: AuditAnnotation['level'];
}): void {
  if (auditAnnotations === undefined || auditAnnotations.has(key)) return;
  if (key.split('/').length !== 2 || checkQualifiedName(key).length > 0) return;
  auditAnnotations.set(key, { value, level });
}
