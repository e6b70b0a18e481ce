// The one test for what JSON calls an object.

/** Whether the value is an object of named members: no list, no null. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
