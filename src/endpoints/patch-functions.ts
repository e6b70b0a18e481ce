// The patch types as functions from the current object to the next one; apimachinery implements them, the server hands them in.
import type { JsonObject, JsonValue, KubeObject, Schema } from '../apimachinery/index.ts';
import type { Resource } from '../registry/index.ts';

/** What an apply needs to know besides the two objects. */
interface ApplyInput {
  readonly resource: Resource;
  readonly version: string;
  readonly subresource: string;
  readonly schema: Schema;
  readonly manager: string;
  readonly force: boolean;
  readonly nowMs: number;
  /** undefined when the object does not exist yet. */
  readonly current: KubeObject | undefined;
  /** The applied configuration. */
  readonly applied: KubeObject;
}

/** A JSON patch that was read and checked once, to be used on every round of the update loop. */
type CompiledJsonPatch = (current: JsonValue) => JsonValue;

/** All throw StatusError with the reference's texts; none changes what it is given. */
export interface PatchFunctions {
  /** RFC 6902. `operations` is the parsed body. */
  compileJsonPatch(operations: JsonValue): CompiledJsonPatch;
  /** RFC 7396. */
  applyMergePatch(current: JsonObject, patch: JsonObject): JsonObject;
  applyStrategicMergePatch?(current: JsonObject, patch: JsonObject, schema: Schema): JsonObject;
  /** Server-side apply: the merged object with its managedFields. A Scale is applied to the object that it belongs to. */
  apply?(input: ApplyInput): KubeObject;
}
