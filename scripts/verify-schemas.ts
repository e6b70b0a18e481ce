// placeholder
export async function verifySchemas(_: unknown): Promise<void> {}
